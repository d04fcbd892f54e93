package cache

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"reprise/policy"
	"reprise/policy/classic"
	"reprise/policy/registry"
	"reprise/store"
	"reprise/store/storetest"
)

// TestUsesThatWait: a cache whose uses wait answers every request as one that applies each at once, and holds the same entries, topics
// and anchors at the end: over random histories, with policies that decide by relations, by an ensemble, and by a time that uses extend.
func TestUsesThatWait(t *testing.T) {
	for _, name := range []string{"lru", "rac", "rac+", "ttl"} {
		for seed := range uint64(2) {
			t.Run(fmt.Sprint(name, seed), func(t *testing.T) {
				evictor := func() policy.Evictor {
					e, err := registry.New(name, policy.Options{Capacity: 30, Seed: 1})
					if err != nil {
						t.Fatal(err)
					}
					if ttl, ok := e.(*classic.TTL); ok {
						return sliding{ttl}
					}
					return e
				}
				start := func() *life {
					l := &life{t: t, rng: rand.New(rand.NewPCG(seed, 2)), tape: &tape{}, disk: &storetest.Memory{}, evictor: evictor, entries: 30}
					l.start(time.Time{})
					return l
				}
				waits, once := start(), start()
				waits.state.readers = nil
				most := 0
				for i := range 1000 {
					waits.stepNow()
					most = max(most, len(waits.state.uses.waiting))
					once.stepNow()
					if a, b := waits.state.store.Stats(), once.state.store.Stats(); a.Entries != b.Entries || a.Bytes != b.Bytes || a.Evictions != b.Evictions {
						t.Fatalf("step %d: %+v, want %+v", i, a, b)
					}
				}
				waits.note(waits.Settle())
				if a, b := entriesOf(waits.rig), entriesOf(once.rig); !slices.Equal(a, b) {
					t.Errorf("%q, want %q", a, b)
				}
				if a, b := anchorsOf(waits.rig), anchorsOf(once.rig); !maps.Equal(a, b) {
					t.Errorf("anchors %v, want %v", a, b)
				}
				if most < 3 || len(once.state.uses.waiting) > 0 {
					t.Errorf("at most %d uses waited, and %d where none should", most, len(once.state.uses.waiting))
				}
			})
		}
	}
}

// sliding is a policy whose entries live from their last use on.
type sliding struct{ *classic.TTL }

func (s sliding) Hit(id policy.ID, at policy.Tick) { s.Replace(policy.Item{ID: id}, at) }

// stepNow is step without the passing of time, by which a store drops entries at random.
func (l *life) stepNow() {
	switch n := l.rng.IntN(100); {
	case n < 97:
		l.ask(l.someRequest())
	case n < 98:
		l.follower.purge(func(e *store.Entry) bool { return e.ID%7 == policy.ID(n%7) }, nil, false)
	default:
		if e, ok := l.state.store.Get(policy.ID(1 + l.rng.IntN(200))); ok {
			l.Drop(l.t.Context(), e)
		}
	}
}

// TestUseKeepsAnEntry: a use that waits extends the life of its entry.
func TestUseKeepsAnEntry(t *testing.T) {
	r := newRig(t, func(so *store.Options, _ *Options) {
		ttl, err := registry.New("ttl", policy.Options{Capacity: 8, Params: map[string]string{"ttl": "10"}})
		if err != nil {
			t.Fatal(err)
		}
		so.Evictor = sliding{ttl.(*classic.TTL)}
	})
	r.wants(r.request(letters(40)), "miss", 1)
	for range 3 {
		for range 7 {
			r.Tick()
		}
		r.wants(r.request(letters(40)), "exact", 1)
	}
	for range 10 {
		r.Tick()
	}
	if how, _ := r.ask(r.request(letters(40))); how != "miss" {
		t.Errorf("%s after its life", how)
	}
}

// TestSearchComesAfterUses: a search for an answer applies the uses before it, and waits for no change that is under way.
func TestSearchComesAfterUses(t *testing.T) {
	r := newRig(t)
	r.wants(r.request(letters(40)), "miss", 1)
	r.wants(r.request(letters(40)), "exact", 1)
	r.state.mu.Lock()
	r.find(t.Context(), r.request(letters(42), func(q *Request) { q.Private = true }))
	if n := len(r.state.uses.waiting); n != 1 {
		t.Errorf("%d wait behind a change", n)
	}
	r.state.mu.Unlock()
	r.find(t.Context(), r.request(letters(42), func(q *Request) { q.Private = true }))
	if n := len(r.state.uses.waiting); n != 0 {
		t.Errorf("%d wait after a search", n)
	}
}

// TestUsesAreApplied: as many as may wait are applied, in their order.
func TestUsesAreApplied(t *testing.T) {
	r := newRig(t)
	r.wants(r.request(letters(40)), "miss", 1)
	for i := range mostUses - 1 {
		r.ask(r.request(letters(40)))
		if n := len(r.state.uses.waiting); n != i+1 {
			t.Fatalf("%d wait after %d", n, i+1)
		}
	}
	if got := r.state.store.Ranks().Importance(1); got != 1 {
		t.Errorf("an importance of %v before", got)
	}
	r.ask(r.request(letters(40)))
	if got := r.state.store.Ranks().Importance(1); len(r.state.uses.waiting) > 0 || got < 10 {
		t.Errorf("%d wait, an importance of %v", len(r.state.uses.waiting), got)
	}
	e, _ := r.state.store.Get(1)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 1000 {
				r.touch(r.request(letters(40)), e, nil)
			}
		})
	}
	all.Wait()
	if n := len(r.state.uses.waiting); n >= mostUses {
		t.Errorf("%d wait", n)
	}
}

// sore is a policy that panics at every third use.
type sore struct {
	policy.Evictor
	uses int
}

func (s *sore) Hit(id policy.ID, at policy.Tick) {
	if s.uses++; s.uses%3 == 0 {
		panic("injected")
	}
	s.Evictor.Hit(id, at)
}

// TestUsesThatPanic: where policy or topics panic in a use that waited, every request gets its answer, and the other uses count.
func TestUsesThatPanic(t *testing.T) {
	s := &sore{Evictor: classic.NewLRU()}
	r := newRig(t, func(so *store.Options, _ *Options) { so.Evictor, so.OnFault = s, func(string, error) {} })
	for n := range policy.ID(4) {
		r.wants(r.request(letters(40*int(n+1))), "miss", n+1)
		for range 7 {
			r.wants(r.request(letters(40*int(n+1))), "exact", n+1)
		}
	}
	all := r.state.topics
	r.note(r.Settle())
	r.state.topics = nil // a use panics before it comes to the policy
	e, _ := r.state.store.Get(1)
	r.touch(r.request(letters(40)), e, nil)
	if err := r.Settle(); err == nil {
		t.Error("the panic of a use that was applied is not reported")
	}
	r.state.topics = all
	r.wants(r.request(letters(40)), "exact", 1)
	if _, purged, err := r.follower.purge(func(e *store.Entry) bool { return e.ID > 1 }, nil, false); purged != 3 || err != nil {
		t.Errorf("purged %d of 3, %v", purged, err)
	}
	if s.uses != 4*7+1 || len(r.faults) > 0 {
		t.Errorf("%d uses came to the policy, faults in %v", s.uses, r.faults)
	}
}
