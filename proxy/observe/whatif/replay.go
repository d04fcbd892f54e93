package whatif

import (
	"context"

	"reprise/policy"
	"reprise/policy/registry"
)

// rests is after how many requests a replay pauses.
const rests = 4096

// replayed is a cache whose answers are identities: rows are played through it, one by one.
type replayed struct {
	ledger   *policy.Ledger
	arriver  policy.Arriver // the evictor; nil where it is none
	linker   policy.Linker  // likewise
	resident map[uint32]policy.ID
	who      map[policy.ID]uint32 // of each resident
	evicted  []policy.ID
}

// replay plays rows through a policy, and returns how many of those after the first warm ones missed.
func replay(ctx context.Context, rows []row, warm int, name string, limit policy.Limit, pause func(context.Context)) (misses int64, err error) {
	e, err := registry.New(name, policy.Options{Capacity: entriesOf(rows, limit), Bytes: limit.Bytes > 0, Seed: 1})
	if err != nil {
		return 0, err
	}
	c := &replayed{ledger: policy.NewLedger(e, limit), resident: map[uint32]policy.ID{}, who: map[policy.ID]uint32{}}
	c.arriver, _ = e.(policy.Arriver)
	c.linker, _ = e.(policy.Linker)
	for i := range rows {
		if i%rests == 0 {
			pause(ctx)
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
		}
		if !c.play(&rows[i], policy.Tick{Seq: int64(i + 1), At: float64(rows[i].at) / 64}) && i >= warm {
			misses++
		}
	}
	return misses, nil
}

// entriesOf returns how many entries will be resident under a limit: an estimate, by the mean size, where that is in bytes.
func entriesOf(rows []row, limit policy.Limit) int {
	if limit.Bytes == 0 {
		return limit.Entries
	}
	seen, bytes := map[uint32]struct{}{}, int64(0)
	for i := range rows {
		if _, known := seen[rows[i].who]; !known {
			seen[rows[i].who] = struct{}{}
			bytes += sizeOf(&rows[i])
		}
	}
	return int(max(1, min(int64(len(seen)), limit.Bytes*int64(len(seen))/max(bytes, 1))))
}

func sizeOf(r *row) int64 { return max(int64(r.size), 1) }

// play answers one request, and reports whether that was a hit.
func (c *replayed) play(r *row, at policy.Tick) bool {
	id, hit := c.resident[r.who]
	parent := c.parent(r)
	if hit && c.ledger.Expired(id, at) {
		c.ledger.Remove(id, policy.Expired)
		c.forget(id)
		hit = false
	}
	if hit {
		if c.linker != nil && parent != 0 {
			c.linker.Link(id, parent)
		}
		c.ledger.Hit(id, at)
		return true
	}
	topic := policy.TopicID(r.topic)
	if c.arriver != nil {
		c.arriver.Arrive(topic, at)
	}
	id = policy.ID(at.Seq)
	c.resident[r.who], c.who[id] = id, r.who
	c.evicted = c.ledger.Insert(policy.Item{ID: id, Key: uint64(r.who), Topic: topic, Parent: parent, Size: sizeOf(r), Cost: max(float64(r.tokens), 1), Offset: int(r.turn)}, at, c.evicted[:0])
	for _, gone := range c.evicted {
		c.forget(gone)
	}
	return false
}

// parent returns the resident entry that a request depends on, 0 if there is none.
func (c *replayed) parent(r *row) policy.ID {
	if r.parent == 0 || r.parent == r.who {
		return 0
	}
	return c.resident[r.parent]
}

func (c *replayed) forget(id policy.ID) {
	delete(c.resident, c.who[id])
	delete(c.who, id)
}
