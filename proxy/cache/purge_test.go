package cache

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"reprise/policy"
	"reprise/policy/classic"
	"reprise/store"
)

func everything(*store.Entry) bool { return true }

// TestServes: a hit that was found before a purge answers nothing after it, however long it was held and whatever has been stored
// since; a purge of other entries leaves it as it is.
func TestServes(t *testing.T) {
	r := newRig(t)
	r.wants(r.request(letters(40)), "miss", 1)
	r.wants(r.request(letters(80)), "miss", 2)
	lookup := func(n int) *Hit {
		hit, _, err := r.Lookup(t.Context(), r.request(letters(n)))
		if err != nil || hit == nil {
			t.Fatal(hit, err)
		}
		return hit
	}
	exact, other := lookup(40), lookup(80)
	meant := r.find(t.Context(), r.request(letters(41))).Hit
	var during *Hit
	r.follower.purge(func(e *store.Entry) bool {
		if e.ID == 1 {
			during = lookup(40)
		}
		return e.ID == 1
	}, nil, false)
	for what, hit := range map[string]*Hit{"exact": exact, "by meaning": meant, "found during the purge": during} {
		if r.Serves(hit) {
			t.Errorf("%s: served after the purge", what)
		}
	}
	if !r.Serves(other) {
		t.Error("the purge of another entry has taken a hit away")
	}
	r.wants(r.request(letters(40)), "miss", 3)
	if r.Serves(exact) || !r.Serves(lookup(40)) {
		t.Error("an answer of before the purge is served in place of the new one")
	}
}

// TestServesAfterEviction: an entry that was evicted may still answer who has found it, as long as no purge can have meant it.
func TestServesAfterEviction(t *testing.T) {
	r := newRig(t)
	r.wants(r.request(letters(40)), "miss", 1)
	hit, _, _ := r.Lookup(t.Context(), r.request(letters(40)))
	r.state.remove(policy.Evicted, hit.Entry)
	if !r.Serves(hit) {
		t.Error("refused without a purge")
	}
	r.follower.purge(everything, nil, false)
	if r.Serves(hit) {
		t.Error("served after a purge that would have matched it")
	}
}

// TestAnswersDuringAPurge: an answer whose request came before a purge began is refused from its first moment on, so that nothing is
// added behind the place that the purge has reached.
func TestAnswersDuringAPurge(t *testing.T) {
	r := newRig(t)
	r.wants(r.request(letters(40)), "miss", 1)
	early := r.request(letters(120))
	f := r.find(t.Context(), early)
	r.follower.purge(func(*store.Entry) bool {
		if id, reason, _ := r.Keep(t.Context(), early, f, r.entry(early, f)); id != 0 || reason != ReasonPurged {
			t.Errorf("entry %d, %q", id, reason)
		}
		return true
	}, nil, false)
	if st := r.Stats(); st.Store.Entries != 0 || st.Topics.Entries != 0 {
		t.Errorf("%+v", st)
	}
}

// interrupter is a Reader that lets another request change the cache as soon as a purge has removed something.
type interrupter struct {
	purges, uses []int // places in the log
	n            int
	first        func()
}

func (i *interrupter) Read(ev *Event, _ *Cause) {
	i.n++
	switch ev.Kind {
	case store.EventPurge:
		if i.purges = append(i.purges, i.n); len(i.purges) == 1 {
			i.first()
		}
	case store.EventArrive:
		i.uses = append(i.uses, i.n)
	}
}

// TestPurgeLetsOthersIn: a purge of many entries holds the lock for a few at a time.
func TestPurgeLetsOthersIn(t *testing.T) {
	const entries = 20_000
	i := &interrupter{}
	r := newRig(t, func(so *store.Options, o *Options) {
		so.Evictor, so.Limit = classic.NewLRU(), policy.Limit{}
		o.Meaning, o.Readers = false, []Reader{i}
	})
	for n := range entries {
		e := &store.Entry{Key: keyOf(fmt.Sprint(n)), Answer: []byte("a"), Created: r.now(), Expires: r.now().Add(time.Hour)}
		if id, _, _ := r.Keep(t.Context(), &Request{Key: e.Key, At: r.Tick()}, &Finding{}, e); id == 0 {
			t.Fatal("not kept")
		}
	}
	done := make(chan struct{})
	i.first = func() {
		go func() { r.state.arrive(7, r.Tick()); close(done) }()
	}
	if matched, purged, err := r.follower.purge(everything, nil, false); matched != entries || purged != entries || err != nil {
		t.Fatalf("%d matched, %d purged, %v", matched, purged, err)
	}
	<-done
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	last := slices.Max(i.purges)
	before := slices.IndexFunc(i.purges, func(at int) bool { return at > i.uses[0] })
	t.Logf("measured: a change waited for %d of %d removals", before, entries)
	if i.uses[0] > last {
		t.Error("a change of another request waited for the whole purge")
	}
}

// moody is a policy that panics when it is to remove some entries, a number of times.
type moody struct {
	policy.Evictor
	panics map[policy.ID]int
}

func (m *moody) Remove(id policy.ID, why policy.Reason) {
	if m.panics[id] > 0 {
		m.panics[id]--
		panic("injected")
	}
	m.Evictor.Remove(id, why)
}

// TestPurgeOverPanics: a policy that panics does not keep the other entries from being purged, and what is still there is reported.
func TestPurgeOverPanics(t *testing.T) {
	m := &moody{Evictor: classic.NewLRU(), panics: map[policy.ID]int{2: 1, 3: 1000}}
	r := newRig(t, func(so *store.Options, o *Options) { so.Evictor, so.OnFault = m, func(string, error) {} })
	for n := range 5 {
		r.wants(r.request(letters(30*n+1)), "miss", policy.ID(n+1))
	}
	matched, _, err := r.follower.purge(everything, nil, false)
	_, third := r.Get(3)
	if st := r.Stats(); matched != 5 || third != errors.Is(err, ErrNotRemoved) || third && st.Store.Entries != 1 || !third && st.Store.Entries != 0 {
		t.Errorf("%d matched, entry 3 is there: %v, %v, %+v", matched, third, err, st.Store)
	}
}
