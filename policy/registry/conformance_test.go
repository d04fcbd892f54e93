package registry

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"reprise/internal/policytest"
	"reprise/policy"
)

// TestEvictors runs what every evictor must do through every policy that has a name.
func TestEvictors(t *testing.T) {
	for _, name := range Names() {
		fresh := func() policy.Evictor {
			e, err := New(name, policy.Options{Capacity: 8})
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		t.Run(name, func(t *testing.T) { conform(t, fresh) })
	}
}

func conform(t *testing.T, fresh func() policy.Evictor) {
	t.Run("empty", func(t *testing.T) {
		e := fresh()
		e.Hit(7, policy.Tick{Seq: 1})
		e.Remove(7, policy.Purged)
		policytest.WantVictim(t, e, 0, false)
	})
	t.Run("one", func(t *testing.T) {
		e := fresh()
		e.Insert(policy.Item{ID: 7, Topic: 1}, policy.Tick{Seq: 1})
		policytest.WantVictim(t, e, 7, true)
		policytest.WantVictim(t, e, 7, true) // naming changes nothing
		e.Remove(7, policy.Purged)
		policytest.WantVictim(t, e, 0, false)
	})
	t.Run("mistakes are ignored", func(t *testing.T) {
		e, same := fresh(), fresh()
		for seq := int64(1); seq <= 6; seq++ {
			for _, x := range []policy.Evictor{e, same} {
				x.Insert(policy.Item{ID: policy.ID(seq), Topic: policy.TopicID(seq % 3)}, policy.Tick{Seq: seq})
			}
			e.Insert(policy.Item{ID: 1, Topic: 9}, policy.Tick{Seq: seq})
			e.Hit(99, policy.Tick{Seq: seq})
			e.Remove(99, policy.Purged)
			e.Remove(99, policy.Expired)
			e.Remove(99, policy.Evicted)
			if r, ok := e.(policy.Replacer); ok {
				r.Replace(policy.Item{ID: 99}, policy.Tick{Seq: seq})
			}
		}
		if got, want := policytest.Drain(e), policytest.Drain(same); got != want {
			t.Errorf("victims %s after mistakes, %s without", got, want)
		}
	})
	t.Run("reading changes nothing", func(t *testing.T) {
		read, unread := fresh(), fresh()
		for i, op := range policytest.RandomOps(rand.New(rand.NewPCG(5, 6)), 2000) {
			at := policy.Tick{Seq: int64(i + 1)}
			op.Apply(read, at)
			op.Apply(unread, at)
			policytest.Read(read, op, at)
		}
		if got, want := policytest.Drain(read), policytest.Drain(unread); got != want {
			t.Errorf("victims %s after reading, %s without", got, want)
		}
	})
}

// TestReadersRunTogether makes all calls that only return something from two goroutines, as the owner of a policy does under a lock
// for readers. The race detector sees one that writes. Line 25 of the list in
// SECURITY.md.
func TestReadersRunTogether(t *testing.T) {
	for _, name := range append(Names(), "rac:alpha=1", "rac+:sample=100") {
		t.Run(name, func(t *testing.T) {
			e, err := New(name, policy.Options{Capacity: 1000, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			for i, op := range policytest.RandomOps(rand.New(rand.NewPCG(7, 8)), 3000) {
				at := policy.Tick{Seq: int64(i + 1)}
				op.Apply(e, at)
				if i%100 != 0 {
					continue
				}
				var readers sync.WaitGroup
				for range 2 {
					readers.Go(func() { policytest.Read(e, op, at) })
				}
				readers.Wait()
			}
		})
	}
}

// TestEvictorsUnderALedger plays the calls of a proxy twice: the counts are right at every step and the victims are the same.
func TestEvictorsUnderALedger(t *testing.T) {
	for _, name := range Names() {
		for _, limit := range []policy.Limit{
			{Entries: 8}, {Bytes: 400}, {Entries: 8, Bytes: 400}, {Entries: 1}, {Entries: 2}, {Entries: 3}, {Bytes: 1}, {Bytes: 1 << 40},
		} {
			t.Run(fmt.Sprintf("%s/%+v", name, limit), func(t *testing.T) {
				var victims [2][]policy.ID
				for i := range victims {
					f := newTraffic(t, name, limit)
					for range 3000 {
						f.step()
						f.check()
					}
					victims[i] = f.evicted
					f.drain()
				}
				if !slices.Equal(victims[0], victims[1]) {
					t.Error("the same calls to the same seed had other victims")
				}
			})
		}
	}
}

// TestCapacityReservesNothing makes every policy for a capacity that is never reached: memory is only used for entries.
func TestCapacityReservesNothing(t *testing.T) {
	const most = 48 << 20
	for _, name := range Names() {
		for _, o := range []policy.Options{{Capacity: 2e8}, {Capacity: 2e8, Bytes: true}} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			e, err := New(name, o)
			if err != nil {
				t.Error(err)
				continue
			}
			e.Insert(policy.Item{ID: 1, Key: 1, Size: 1 << 40}, policy.Tick{Seq: 1})
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > most {
				t.Errorf("%s for %+v: %d bytes for one entry", name, o, took)
			}
		}
	}
}

// traffic is a stream of requests for a few identities, which return under new IDs, of removals for every reason between
// Victim and Remove, and of replacements. It has its own counts.
type traffic struct {
	t        *testing.T
	limit    policy.Limit
	evictor  policy.Evictor
	ledger   *policy.Ledger
	rand     *rand.Rand
	at       policy.Tick
	newest   policy.ID
	resident map[uint64]policy.ID // by key
	known    map[policy.ID]policy.Item
	evicted  []policy.ID
}

func newTraffic(t *testing.T, name string, limit policy.Limit) *traffic {
	e, err := New(name, policy.Options{Capacity: max(limit.Entries, 1), Bytes: limit.Bytes > 0, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	return &traffic{
		t: t, limit: limit, evictor: e, ledger: policy.NewLedger(e, limit), rand: rand.New(rand.NewPCG(5, 6)),
		resident: map[uint64]policy.ID{}, known: map[policy.ID]policy.Item{},
	}
}

func (f *traffic) step() {
	f.at.Seq++
	f.at.At += f.rand.Float64()
	switch f.rand.IntN(30) {
	case 0:
		f.remove(f.resident[f.key()], policy.Reason(f.rand.IntN(3)))
	case 1:
		f.remove(f.newest, policy.Reason(f.rand.IntN(3)))
	case 2:
		f.purgeBeforeEviction(f.newest)
	case 3:
		f.purgeBeforeEviction(f.resident[f.key()])
	case 4:
		f.replace(f.resident[f.key()])
	case 5:
		f.evictNamed(f.resident[f.key()])
	case 6:
		policytest.Op{Kind: policytest.OpLink, ID: f.newest, Parent: f.resident[f.key()]}.Apply(f.evictor, f.at)
	default:
		f.request(f.key())
	}
}

// key is skewed to the lower ones.
func (f *traffic) key() uint64 { return uint64(1 + min(f.rand.IntN(40), f.rand.IntN(40))) }

func (f *traffic) request(key uint64) {
	id, ok := f.resident[key]
	if ok && !f.ledger.Expired(id, f.at) {
		f.ledger.Hit(id, f.at)
		return
	}
	f.remove(id, policy.Expired)
	f.newest++
	it := policy.Item{
		ID: f.newest, Key: key, Topic: policy.TopicID(key % 7), Parent: f.resident[key-1], Category: uint32(key % 3),
		Size: int64(f.rand.IntN(100)), Cost: float64(f.rand.IntN(50)), Offset: int(key % 4), Prob: f.rand.Float64(),
	}
	policytest.Op{Kind: policytest.OpArrive, Topic: it.Topic}.Apply(f.evictor, f.at)
	f.resident[key], f.known[it.ID] = it.ID, it
	start := len(f.evicted)
	f.evicted = f.ledger.Insert(it, f.at, f.evicted)
	for _, id := range f.evicted[start:] {
		f.forget(id)
	}
}

// purgeBeforeEviction removes id between the naming of a victim and its removal.
func (f *traffic) purgeBeforeEviction(id policy.ID) {
	victim, ok := f.evictor.Victim()
	if ok {
		policytest.WantVictim(f.t, f.evictor, victim, true)
	}
	if id != victim {
		f.remove(id, policy.Purged)
	}
	f.remove(victim, policy.Evicted)
}

func (f *traffic) remove(id policy.ID, why policy.Reason) {
	if _, ok := f.known[id]; f.ledger.Remove(id, why) != ok {
		f.t.Fatalf("request %d: entry %d was resident: %v", f.at.Seq, id, ok)
	}
	f.forget(id)
}

// replace gives a resident another answer; it, or others, may have to make room for it.
func (f *traffic) replace(id policy.ID) {
	it, ok := f.known[id]
	it.ID, it.Size, it.Cost = id, int64(f.rand.IntN(100)), float64(f.rand.IntN(50))
	if ok {
		f.known[id] = it
	}
	start := len(f.evicted)
	f.evicted = f.ledger.Replace(it, f.at, f.evicted)
	if !ok && len(f.evicted) > start {
		f.t.Fatalf("request %d: the replacement of no resident evicted %v", f.at.Seq, f.evicted[start:])
	}
	for _, id := range f.evicted[start:] {
		f.forget(id)
	}
}

// evictNamed evicts an entry as if another cache had chosen it.
func (f *traffic) evictNamed(id policy.ID) {
	_, resident := f.known[id]
	victim, _ := f.evictor.Victim()
	if same := f.ledger.EvictNamed(id); same != (resident && id == victim) {
		f.t.Fatalf("request %d: eviction of %d is %v, victim %d", f.at.Seq, id, same, victim)
	}
	f.forget(id)
}

func (f *traffic) forget(id policy.ID) {
	delete(f.resident, f.known[id].Key)
	delete(f.known, id)
}

func (f *traffic) check() {
	f.t.Helper()
	bytes := int64(0)
	for _, it := range f.known {
		bytes += it.Size
	}
	l := f.ledger
	if l.Entries() != len(f.known) || l.Bytes() != bytes || l.Faults() != 0 ||
		f.limit.Entries > 0 && l.Entries() > f.limit.Entries || f.limit.Bytes > 0 && bytes > f.limit.Bytes {
		f.t.Fatalf("request %d: %d entries, %d bytes, %d faults; want %d, %d, 0 within %+v",
			f.at.Seq, l.Entries(), l.Bytes(), l.Faults(), len(f.known), bytes, f.limit)
	}
}

// drain evicts what is left: every resident once.
func (f *traffic) drain() {
	for len(f.known) > 0 {
		id, ok := f.evictor.Victim()
		if _, resident := f.known[id]; !ok || !resident {
			f.t.Fatalf("victim %d, %v with %d residents", id, ok, len(f.known))
		}
		f.remove(id, policy.Evicted)
	}
	policytest.WantVictim(f.t, f.evictor, 0, false)
}
