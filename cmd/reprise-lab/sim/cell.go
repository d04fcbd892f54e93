package sim

import (
	"fmt"
	"time"

	"reprise/cmd/reprise-lab/policies"
	"reprise/policy"
)

// runner is one policy at one capacity.
type runner interface {
	play(b *batch, now func() time.Time)
	// finish checks the accounting and returns the result; asked and full are all requests, and the hits of an infinite cache.
	finish(asked, full tally) (Result, error)
}

// cell is a runner whose hits are by identity.
//
// The high bits of an entry's ID are the position of the request that made it, the low bits the number of its identity, so
// that the identity of an ID needs no table: a cell has 4 bytes for each identity of the trace.
type cell struct {
	result Result

	ledger  *policy.Ledger // nil: the infinite cache
	evictor policy.Evictor
	seer    Clairvoyant // the evictor, nil where it is none; so are the next two
	arriver policy.Arriver
	linker  policy.Linker
	expires bool     // the evictor is a policy.Expirer
	born    []uint32 // Seq of the request that made the resident entry of an identity; 0: not resident
	sizes   []int64  // of the resident entry of an identity; nil unless the limit is in bytes
	evicted []policy.ID

	hit               tally
	windows           *recorder
	evictions         int64         // those that count
	inserted, removed int64         // in all; an entry is removed by eviction or expiry
	spent             time.Duration // wall time
}

func newCell(name string, c Capacity, o *Options, p *plan) (*cell, error) {
	x := &cell{result: newResult(name, c, o.Seed, p)}
	e, limit, err := c.evictor(name, o.Seed, p)
	x.windows = newRecorder(e, o)
	if e != nil {
		x.open(e, limit, p.ids.n)
	}
	return x, err
}

// evictor makes a policy for the capacity in this trace, and returns its limit; nil and none for the infinite cache.
func (c Capacity) evictor(name string, seed uint64, p *plan) (policy.Evictor, policy.Limit, error) {
	if name == infinite {
		return nil, policy.Limit{}, nil
	}
	limit, entries := c.limit(p.ids.n, p.bytes)
	if fresh := bounds[name]; fresh != nil {
		return fresh(), limit, nil
	}
	e, err := policies.New(name, policy.Options{Capacity: entries, Bytes: limit.Bytes > 0, Seed: seed})
	return e, limit, err
}

// open sets the evictor, and finds its optional interfaces once instead of at each request.
func (c *cell) open(e policy.Evictor, limit policy.Limit, distinct int) {
	c.evictor, c.ledger = e, policy.NewLedger(e, limit)
	c.seer, _ = e.(Clairvoyant)
	c.arriver, _ = e.(policy.Arriver)
	c.linker, _ = e.(policy.Linker)
	_, c.expires = e.(policy.Expirer)
	c.born = make([]uint32, distinct)
	if limit.Bytes > 0 {
		c.sizes = make([]int64, distinct)
	}
}

// play plays a batch. The infinite cache has nothing to play.
func (c *cell) play(b *batch, now func() time.Time) {
	if c.ledger == nil {
		c.hit = b.full
	} else {
		c.run(b, now)
	}
	if b.ends {
		c.windows.end(b.asked, c.hit)
	}
}

func (c *cell) run(b *batch, now func() time.Time) {
	start := now()
	for i := range b.events {
		c.request(&b.events[i], b.start+int64(i)+1)
	}
	if !b.counts {
		c.hit, c.evictions = tally{}, 0
	}
	c.spent += now().Sub(start)
}

func (c *cell) request(e *event, seq int64) {
	at := policy.Tick{Seq: seq, At: e.at}
	if c.seer != nil {
		c.seer.Foresee(int64(e.next), int64(e.left))
	}
	id := c.id(e.who)
	if id == 0 || c.expires && c.expired(id, at) {
		c.miss(e, at)
		return
	}
	c.hit.add(e)
	if c.linker != nil {
		if parent := c.parent(e); parent != 0 {
			c.linker.Link(id, parent)
		}
	}
	c.ledger.Hit(id, at)
}

// expired removes id if its time is over.
func (c *cell) expired(id policy.ID, at policy.Tick) bool {
	if !c.ledger.Expired(id, at) {
		return false
	}
	c.ledger.Remove(id, policy.Expired)
	c.born[uint32(id)] = 0
	c.removed++
	return true
}

func (c *cell) miss(e *event, at policy.Tick) {
	if c.arriver != nil {
		c.arriver.Arrive(policy.TopicID(e.topic), at)
	}
	c.born[e.who] = uint32(at.Seq)
	if c.sizes != nil {
		c.sizes[e.who] = e.size
	}
	c.inserted++
	c.evicted = c.ledger.Insert(policy.Item{
		ID: c.id(e.who), Key: e.key, Topic: policy.TopicID(e.topic), Parent: c.parent(e),
		Size: e.size, Cost: e.cost, Offset: int(e.turn),
	}, at, c.evicted[:0])
	for _, id := range c.evicted {
		c.born[uint32(id)] = 0
	}
	c.removed += int64(len(c.evicted))
	c.evictions += int64(len(c.evicted))
}

// id is the resident entry of an identity, 0 if there is none.
func (c *cell) id(who uint32) policy.ID {
	born := c.born[who]
	if born == 0 {
		return 0
	}
	return policy.ID(born)<<32 | policy.ID(who)
}

// parent is the resident entry that e depends on, 0 if there is none.
func (c *cell) parent(e *event) policy.ID {
	if e.parent == 0 {
		return 0
	}
	return c.id(e.parent - 1)
}

// finish checks the accounting, which empties the cell, and returns the result.
func (c *cell) finish(asked, full tally) (Result, error) {
	r := c.result
	r.score(asked, full, c.hit)
	r.Evictions, r.Seconds = c.evictions, c.spent.Seconds()
	r.Windows = c.windows.finish(asked, c.hit)
	if c.ledger == nil {
		return r, nil
	}
	if err := c.audit(); err != nil {
		return r, fmt.Errorf("policy %s at %s: %w", r.Policy, r.Capacity, err)
	}
	return r, nil
}

// audit compares the residents of the cell, the ledger and the evictor.
func (c *cell) audit() error {
	var entries, bytes int64
	for who, born := range c.born {
		if born == 0 {
			continue
		}
		entries++
		if c.sizes != nil {
			bytes += c.sizes[who]
		}
		if !c.ledger.Has(c.id(uint32(who))) {
			return fmt.Errorf("entry %d is not in the ledger", who)
		}
	}
	switch l := c.ledger; {
	case l.Faults() != 0:
		return fmt.Errorf("%d times no victim, or one that was not resident", l.Faults())
	case int64(l.Entries()) != entries || c.inserted != c.removed+entries:
		return fmt.Errorf("%d entries in the ledger, %d resident, %d inserted, %d removed", l.Entries(), entries, c.inserted, c.removed)
	case c.sizes != nil && l.Bytes() != bytes:
		return fmt.Errorf("%d bytes in the ledger, %d resident", l.Bytes(), bytes)
	}
	return c.empty()
}

// empty removes every entry. The evictor must have none left.
func (c *cell) empty() error {
	for who, born := range c.born {
		if born != 0 {
			c.ledger.Remove(c.id(uint32(who)), policy.Purged)
		}
	}
	if id, ok := c.evictor.Victim(); ok || c.ledger.Bytes() != 0 {
		return fmt.Errorf("entry %d and %d bytes remain when every entry is removed", uint32(id), c.ledger.Bytes())
	}
	return nil
}
