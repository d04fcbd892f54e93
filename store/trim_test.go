package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"reprise/policy"
	"reprise/policy/classic"
	"reprise/policy/registry"
	"reprise/store"
)

// twins are a store with a limit and one without that is trimmed after each change, over policies of the same kind.
type twins struct {
	t             *testing.T
	limit         policy.Limit
	bound, shared *store.Store
	evicted       int
}

func newTwins(t *testing.T, name string, limit policy.Limit) *twins {
	evictor := func() policy.Evictor {
		e, err := registry.New(name, policy.Options{Capacity: 20, Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	return &twins{t: t, limit: limit, bound: open(t, store.Options{Evictor: evictor(), Limit: limit}),
		shared: outside(t, func(o *store.Options) { o.Evictor = evictor() })}
}

// both makes one change in both stores and compares what left.
func (w *twins) both(step int, change func(*store.Store) []store.Event) {
	w.t.Helper()
	want := gone(change(w.bound))
	got := append(gone(change(w.shared)), gone(w.shared.Trim(w.limit, 1000))...)
	if !slices.Equal(got, want) {
		w.t.Fatalf("step %d: victims %v, with a limit %v", step, got, want)
	}
	if a, b := w.shared.Stats(), w.bound.Stats(); a.Entries != b.Entries || a.Bytes != b.Bytes || a.Evictions != b.Evictions || a.Faults+b.Faults > 0 {
		w.t.Fatalf("step %d: %+v, with a limit %+v", step, a, b)
	}
	w.evicted += len(want)
}

// TestTrimEvictsAsALimit: a store that is trimmed after each change loses the same entries at the same steps as one with the limit: over
// random histories of insertions, replacements, uses, arrivals, aliases and removals, under every policy and both bounds.
func TestTrimEvictsAsALimit(t *testing.T) {
	for _, name := range registry.Names() {
		for bound, limit := range map[string]policy.Limit{"entries": {Entries: 20}, "bytes": {Bytes: 40 << 10}} {
			t.Run(name+" "+bound, func(t *testing.T) {
				w, rng := newTwins(t, name, limit), rand.New(rand.NewPCG(3, 4))
				for step := range 3000 {
					id := policy.ID(1 + rng.IntN(60))
					switch n := rng.IntN(10); {
					case n < 5:
						what, size, topic := fmt.Sprint(rng.IntN(200)), rng.IntN(400), policy.TopicID(1+rng.IntN(9))
						w.both(step, func(s *store.Store) []store.Event {
							e := entry(what)
							e.Answer, e.Topic, e.Parent = make([]byte, size), topic, id
							return s.Put(e, s.Tick())
						})
					case n < 7:
						if held := slices.Collect(w.bound.All()); len(held) > 0 {
							id = held[rng.IntN(len(held))].ID
						}
						w.both(step, func(s *store.Store) []store.Event { s.Hit(id, 0, s.Tick()); return nil })
					case n < 8:
						w.both(step, func(s *store.Store) []store.Event { s.Arrive(policy.TopicID(id), s.Tick()); return nil })
					case n < 9:
						alias := key(fmt.Sprint("alias", rng.IntN(500)))
						w.both(step, func(s *store.Store) []store.Event { return s.Alias(alias, id, 0) })
					default:
						w.both(step, func(s *store.Store) []store.Event { return s.Remove(policy.Purged, id) })
					}
				}
				if w.evicted < 100 {
					t.Errorf("%d evictions test little", w.evicted)
				}
			})
		}
	}
}

// TestTrimInParts: several calls with a bound on the victims evict what one does, and each stops where the limit holds.
func TestTrimInParts(t *testing.T) {
	s := outside(t, func(o *store.Options) { o.Evictor = classic.NewLRU() })
	for i := range 100 {
		s.Put(entry(fmt.Sprint(i)), s.Tick())
	}
	var parts []int
	for {
		evs := s.Trim(policy.Limit{Entries: 30}, 32)
		if len(evs) == 0 {
			break
		}
		parts = append(parts, len(evs))
	}
	if !slices.Equal(parts, []int{32, 32, 6}) || s.Stats().Entries != 30 {
		t.Errorf("%v evicted, %d left", parts, s.Stats().Entries)
	}
	if _, ok := s.Get(70); ok {
		t.Error("not the oldest were evicted")
	}
}

// TestTrimTakesWhatIsOver: an entry that answers nothing any more leaves before one that does.
func TestTrimTakesWhatIsOver(t *testing.T) {
	now := time.Unix(1000, 0)
	s := outside(t, func(o *store.Options) { o.Evictor, o.Now = classic.NewLRU(), func() time.Time { return now } })
	put := func(name string, life time.Duration) {
		e := entry(name)
		e.Created, e.Expires = now, now.Add(life)
		s.Put(e, s.Tick())
	}
	put("used long ago", time.Hour)
	put("over", time.Minute)
	now = now.Add(90 * time.Second)
	if got := s.Trim(policy.Limit{Entries: 1}, 9); len(got) != 1 || got[0].Kind != store.EventExpire || got[0].ID != 2 {
		t.Errorf("%+v", got)
	}
}

// TestTrimEnds: a policy without a victim keeps the store over the limit and is a fault; the call ends.
func TestTrimEnds(t *testing.T) {
	for _, victim := range []policy.ID{0, 99} {
		s := outside(t, func(o *store.Options) { o.Evictor = nameless{classic.NewLRU(), victim} })
		s.Put(entry("a"), s.Tick())
		s.Put(entry("b"), s.Tick())
		if evs := s.Trim(policy.Limit{Entries: 1}, 9); len(evs) > 0 || s.Stats().Entries != 2 || s.Stats().Faults != 1 {
			t.Errorf("victim %d: %+v, %+v", victim, evs, s.Stats())
		}
	}
}

// TestFull: a store is full where one more entry exceeds a limit by more than 0.5 %, and has room for one entry while the limit holds.
func TestFull(t *testing.T) {
	s := outside(t)
	size := entry("100").Footprint(4)
	for i := range 50 {
		s.Put(entry(fmt.Sprint(100+i)), s.Tick())
	}
	for _, c := range []struct {
		limit policy.Limit
		size  int64
		full  bool
	}{
		{policy.Limit{}, 1 << 40, false},
		{policy.Limit{Entries: 50}, size, false},
		{policy.Limit{Entries: 49}, size, true},
		{policy.Limit{Bytes: 50 * size}, size, false},
		{policy.Limit{Bytes: 50 * size}, 50 * size, false},
		{policy.Limit{Bytes: 50 * size}, 50*size + 1, true},
		{policy.Limit{Bytes: 50*size - 1}, (50*size-1)/200 - 1, false},
		{policy.Limit{Bytes: 50*size - 1}, (50*size - 1) / 200, true},
	} {
		if got := s.Full(c.limit, c.size); got != c.full {
			t.Errorf("limit %+v, one of %d more: %v", c.limit, c.size, got)
		}
	}
	if big := (policy.Limit{Entries: 49}); !s.Full(big, 1) || s.Full(policy.Limit{Entries: 51}, 1) {
		t.Error("one entry over a small limit")
	}
}
