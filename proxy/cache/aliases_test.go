package cache

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"reprise/policy"
	"reprise/store"
	"reprise/store/storetest"
	"reprise/topics/reuse/edits"
	"reprise/topics/reuse/evidence"
)

// counted is a Log that keeps the samples.
type counted []evidence.Sample

func (c *counted) Read(ev *Event, _ *Cause) {
	if s, err := evidence.DecodeSample(ev.Sample); ev.Kind == store.EventSample && err == nil {
		*c = append(*c, s)
	}
}

func (c *counted) Overrides(*Event) bool { return false }

// TestFeedback: a verdict counts once, for the last answer of an entry that was found by meaning, and only from those whose answer it was.
func TestFeedback(t *testing.T) {
	var counted counted
	disk := &storetest.Memory{}
	tape := &tape{}
	r, _ := newJudged(t, func(so *store.Options, o *Options) {
		so.Backing = disk.Reopen()
		o.Readers, o.Log = []Reader{tape}, &counted
	})
	mine, theirs := func(*store.Labels) bool { return true }, func(*store.Labels) bool { return false }
	gives := func(of func(*store.Labels) bool, id policy.ID, right bool, want error) {
		t.Helper()
		if err := r.verdicts.Feedback(of, id, right, evidence.Feedback); !errors.Is(err, want) {
			t.Errorf("entry %d: %v, want %v", id, err, want)
		}
	}
	k, a, b := long("k", 40), long("a", 42), long("b", 42)
	r.wants(r.request(k), "miss", 1)
	r.wants(r.request(k), "exact", 1)
	gives(mine, 1, false, ErrUnknownHit) // an answer to the very request
	gives(mine, 7, false, ErrUnknownHit)
	r.wants(r.request(a), "semantic", 1)
	gives(theirs, 1, false, ErrUnknownHit)
	gives(mine, 1, true, nil)
	gives(mine, 1, false, ErrCounted)
	r.wants(r.request(a), "semantic", 1)
	gives(mine, 1, false, ErrCounted)
	r.wants(r.request(b), "semantic", 1)
	gives(mine, 1, false, nil)
	gives(mine, 1, false, ErrCounted)
	if len(counted) != 2 || counted[0].Outcome != evidence.Same || counted[1].Outcome != evidence.Different || len(counted[0].Edits) != 1 || counted[1].Source != evidence.Feedback {
		t.Errorf("%+v", counted)
	}
	r.wants(r.request(a), "alias", 1)
	refusedBy := func(what string, c *Cache) {
		t.Helper()
		q := r.request(b)
		if hit, _, _ := c.Lookup(t.Context(), q); hit != nil {
			t.Errorf("%s: found by its key", what)
		}
		if f, _ := c.Find(t.Context(), q); f.Hit != nil || f.Explore != nil {
			t.Errorf("%s: found by meaning", what)
		}
		x, _ := c.Explain(t.Context(), q)
		if x.Hit != nil || len(x.Candidates) != 1 || !x.Candidates[0].Refused {
			t.Errorf("%s: explained as %+v", what, x)
		}
	}
	refusedBy("here", r.Cache)
	other, _ := newJudged(t)
	for _, ev := range overTheWire(t, tape.log) {
		if err := other.follower.Apply(t.Context(), ev); err != nil {
			t.Fatal(err)
		}
	}
	other.set(r.now())
	refusedBy("in another process", other.Cache)
	other.wants(r.request(a), "alias", 1)
	r.state.store.Close()
	again, _ := newJudged(t, func(so *store.Options, _ *Options) { so.Backing = disk.Reopen() })
	refusedBy("after a restart", again.Cache)
	again.wants(r.request(a), "alias", 1)
	// The answer of its own is not the answer to the other one, either.
	r, _ = newJudged(t)
	r.wants(r.request(k), "miss", 1)
	r.wants(r.request(a), "semantic", 1)
	gives(mine, 1, false, nil)
	r.wants(r.request(a), "miss", 2)
	r.Purge(t.Context(), store.Filter{Entry: 1})
	r.wants(r.request(k), "miss", 3)
}

// TestRefusedStays: other words that an entry answers do not make it forget which it must not answer, in the store that a restart reads.
func TestRefusedStays(t *testing.T) {
	disk := &storetest.Memory{}
	r, _ := newJudged(t, func(so *store.Options, _ *Options) { so.Backing = disk.Reopen() })
	k, wrong := long("k", 40), long("k", 40)+"."
	r.wants(r.request(k), "miss", 1)
	r.wants(r.request(wrong), "semantic", 1)
	if err := r.verdicts.Feedback(func(*store.Labels) bool { return true }, 1, false, evidence.Feedback); err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		r.wants(r.request(wrong, func(q *Request) { q.Key = keyOf(fmt.Sprint("other ", i)) }), "semantic", 1)
	}
	r.state.store.Close()
	r, _ = newJudged(t, func(so *store.Options, _ *Options) { so.Backing = disk.Reopen() })
	r.wants(r.request(wrong), "miss", 2)
}

// overTheWire is a log as another process reads it.
func overTheWire(t *testing.T, log []Event) []Event {
	t.Helper()
	b, _ := store.AppendEvents(nil, log, "plane")
	evs, err := store.DecodeEvents(b, "plane")
	if err != nil {
		t.Fatal(err)
	}
	return evs
}

// TestFeedbackOnAliases: the last answer of an entry may have come by an alias, of which nothing else was kept in mind.
func TestFeedbackOnAliases(t *testing.T) {
	disk := &storetest.Memory{}
	r, _ := newJudged(t, func(so *store.Options, _ *Options) { so.Backing = disk.Reopen() })
	k, a := long("k", 40), long("a", 42)
	for _, prompt := range []string{k, a, a} {
		r.ask(r.request(prompt))
	}
	r.state.store.Close()
	var counted counted
	r, _ = newJudged(t, func(so *store.Options, o *Options) {
		so.Backing, o.Log = disk.Reopen(), &counted
	})
	r.wants(r.request(a), "alias", 1)
	e, _ := r.Get(1)
	if b, _ := r.verdicts.basis(keyOf(a), e); !slices.Equal(r.learner.caseOf(r.request(a), b, e).Edits, []edits.Class{'a'}) {
		t.Errorf("the alias has the edits %v", r.learner.caseOf(r.request(a), b, e).Edits)
	}
	if err := r.verdicts.Feedback(func(*store.Labels) bool { return true }, 1, false, evidence.Operator); err != nil {
		t.Fatal(err)
	}
	r.wants(r.request(a), "miss", 2)
	if len(counted) != 1 || len(counted[0].Edits) != 1 || counted[0].Similarity < cosine(2.1) || !counted[0].Explained {
		t.Errorf("%+v", counted)
	}
}

// TestRecentIsBounded: what is kept in mind of answers by meaning has a bound, and the oldest make room.
func TestRecentIsBounded(t *testing.T) {
	r, wrong := newRecent(), newPairs()
	all := func(*store.Labels) bool { return true }
	e := func(i int) *store.Entry { return &store.Entry{ID: policy.ID(i + 1), Key: keyOf(fmt.Sprint(i))} }
	for i := range 3 * mostRecent {
		k := keyOf(fmt.Sprint("asked ", i))
		if r.served(k, e(i), evidence.Case{}) || !r.served(k, e(i), evidence.Case{}) {
			t.Fatalf("answer %d: the first time is the second, or the second is not", i)
		}
		wrong.add(0, k, e(i).Key)
		wrong.add(0, e(i).Key, k)
	}
	if len(r.all) != mostRecent || len(r.newest) != mostRecent || len(wrong.all) != mostRecent {
		t.Errorf("%d, %d and %d are kept", len(r.all), len(r.newest), len(wrong.all))
	}
	for i, want := range map[int]error{2*mostRecent - 1: ErrUnknownHit, 2 * mostRecent: nil, 3*mostRecent - 1: nil} {
		if _, err := r.judged(all, e(i).ID); !errors.Is(err, want) {
			t.Errorf("answer %d: %v, want %v", i, err, want)
		}
		if has := wrong.has(e(i).Key, keyOf(fmt.Sprint("asked ", i))); has != (want == nil) {
			t.Errorf("pair %d is kept: %v", i, has)
		}
	}
}

// TestRecentOfOthers: a tenant with many answers and wrong pairs takes no place from one with few, and two of them share what there is.
func TestRecentOfOthers(t *testing.T) {
	r, wrong := newRecent(), newPairs()
	all := func(*store.Labels) bool { return true }
	add := func(tenant, n int) {
		for i := range n {
			k, e := keyOf(fmt.Sprint("asked ", tenant, i)), &store.Entry{ID: policy.ID(tenant*100_000 + i), Key: keyOf(fmt.Sprint(tenant, i))}
			r.served(k, e, evidence.Case{Tenant: uint64(tenant)})
			wrong.add(uint64(tenant), k, e.Key)
		}
	}
	add(1, 10)
	add(2, 3*mostRecent)
	add(3, 3*mostRecent)
	for i := range 10 {
		if _, err := r.judged(all, policy.ID(100_000+i)); err != nil {
			t.Errorf("answer %d: %v", i, err)
		}
		if !wrong.has(keyOf(fmt.Sprint("asked ", 1, i)), keyOf(fmt.Sprint(1, i))) {
			t.Errorf("wrong pair %d is forgotten", i)
		}
	}
	if two, three := len(r.order.of[2]), len(r.order.of[3]); len(r.all) != mostRecent || r.order.n != mostRecent || two+three != mostRecent-10 || two-three > 1 || three-two > 1 {
		t.Errorf("%d are kept, %d and %d of the others", len(r.all), two, three)
	}
}

// TestStaleAlias: an expired answer that an alias leads to, and that is served because the upstream has failed, can be judged; one that has
// proved wrong while the upstream was asked is not served.
func TestStaleAlias(t *testing.T) {
	r, _ := newJudged(t)
	k, form := r.request(long("k", 40)), long("k", 40)+"."
	e := r.entry(k, r.find(t.Context(), k))
	e.Prompt, e.StaleUntil = k.Prompt, e.Expires.Add(time.Hour)
	if _, reason, err := r.Keep(t.Context(), k, r.find(t.Context(), k), e); reason != "" || err != nil {
		t.Fatal(reason, err)
	}
	r.wants(r.request(form), "semantic", 1)
	r.wants(r.request(long("a", 42)), "semantic", 1) // the last answer of the entry
	r.pass(90 * time.Minute)
	q := r.request(form)
	_, stale, err := r.Lookup(t.Context(), q)
	if err != nil || stale == nil || r.Stale(t.Context(), q, stale) == nil {
		t.Fatal(stale, err)
	}
	if err := r.verdicts.Feedback(func(*store.Labels) bool { return true }, 1, false, evidence.Feedback); err != nil {
		t.Fatal(err)
	}
	if hit := r.Stale(t.Context(), q, stale); hit != nil {
		t.Errorf("%+v is served after it was wrong", hit)
	}
}
