package kv

import (
	"math/rand/v2"
	"testing"

	"reprise/cmd/reprise-lab/policies/pinning"
	"reprise/policy"
)

// traffic plays requests of chained blocks as a block cache does: what is resident is used, the rest is inserted, the deepest first, all is
// pinned, and released when another request has begun. Several evictors get the same calls, and must name the same victims.
type traffic struct {
	t        *testing.T
	evictors []pinning.Pins
	rng      *rand.Rand
	capacity int
	kinds    int
	predict  bool
	gap      float64 // mean, between requests

	at       policy.Tick
	born     policy.ID
	resident map[uint64]policy.ID // by key
	keys     map[policy.ID]uint64
	running  [][]policy.ID
	victims  int
	check    func(victim policy.ID) // before it is removed
}

func newTraffic(t *testing.T, capacity int, evictors ...policy.Evictor) *traffic {
	f := &traffic{t: t, rng: rand.New(rand.NewPCG(1, 2)), capacity: capacity, kinds: 1, gap: 1, resident: map[uint64]policy.ID{}, keys: map[policy.ID]uint64{}}
	for _, e := range evictors {
		f.evictors = append(f.evictors, pinning.Pinned(e))
	}
	return f
}

// run plays requests of conversations: some prefixes are common, a conversation adds blocks with each turn.
func (f *traffic) run(requests int) {
	for i := range requests {
		f.at = policy.Tick{Seq: int64(i + 1), At: f.at.At + f.rng.ExpFloat64()*f.gap}
		conversation := uint64(1 + i/20 + f.rng.IntN(30))
		turn := 1 + f.rng.IntN(4)
		it := policy.Item{Category: policy.CategoryOf(uint16(conversation%uint64(f.kinds)), turn), Topic: policy.TopicID(conversation)}
		if f.predict {
			it.Prob = f.rng.Float64()
		}
		f.request(it, f.chain(conversation, turn))
		if len(f.running) > 2 {
			f.release()
		}
	}
}

// chain is two blocks that several conversations have, and two for each turn.
func (f *traffic) chain(conversation uint64, turn int) (keys []uint64) {
	for i := range uint64(2) {
		keys = append(keys, 1+i+2*(conversation%3))
	}
	for i := range uint64(2 * turn) {
		keys = append(keys, 1000*conversation+i)
	}
	return keys
}

func (f *traffic) request(it policy.Item, keys []uint64) {
	var lease []policy.ID
	for i := len(keys) - 1; i >= 0; i-- {
		it.Key, it.Offset = keys[i], i
		id, ok := f.resident[keys[i]]
		if !ok {
			f.born++
			id = f.born
			f.resident[keys[i]], f.keys[id] = id, keys[i]
		}
		it.ID = id
		for _, e := range f.evictors {
			if c, contextual := e.Evictor.(pinning.Contextual); !ok {
				e.Insert(it, f.at)
			} else if contextual {
				c.HitIn(it, f.at)
			} else {
				e.Hit(id, f.at)
			}
			e.Pin(id)
		}
		lease = append(lease, id)
	}
	f.running = append(f.running, lease)
	for len(f.resident) > f.capacity && f.evict() {
	}
}

func (f *traffic) release() {
	for _, id := range f.running[0] {
		for _, e := range f.evictors {
			e.Unpin(id, f.at)
		}
	}
	f.running = f.running[1:]
}

func (f *traffic) evict() bool {
	victim, ok := f.evictors[0].Victim()
	if f.check != nil && ok {
		f.check(victim)
	}
	for _, e := range f.evictors[1:] {
		if id, also := e.Victim(); id != victim || also != ok {
			f.t.Fatalf("request %d, victim %d: %d of %T, %d of %T", f.at.Seq, f.victims, id, e.Evictor, victim, f.evictors[0].Evictor)
		}
	}
	if !ok {
		return false
	}
	f.victims++
	for _, e := range f.evictors {
		e.Remove(victim, policy.Evicted)
	}
	delete(f.resident, f.keys[victim])
	delete(f.keys, victim)
	return true
}

// enough fails where a test had too few victims to show anything.
func (f *traffic) enough() {
	f.t.Helper()
	if f.victims < 1000 {
		f.t.Fatalf("%d victims", f.victims)
	}
}
