package cache

import (
	"testing"

	"reprise/store"
	"reprise/store/storetest"
	"reprise/topics/reuse/evidence"
)

// TestReviewedPairs: a suspected pair does not hit until it is trusted again; a verdict of wrong stays, also after a restart; one of right makes an
// alias the next time; each counts once, and an operator holds back what a client called right.
func TestReviewedPairs(t *testing.T) {
	var counted counted
	disk := &storetest.Memory{}
	r, _ := newJudged(t, func(so *store.Options, o *Options) {
		so.Backing, o.Log = disk.Reopen(), &counted
	})
	k, a, b := long("k", 40), long("a", 42), long("b", 42)
	r.wants(r.request(k), "miss", 1)
	pairOf := func(prompt string) Pair {
		f := r.find(t.Context(), r.request(prompt))
		return Pair{keyOf(prompt), keyOf(k), 1, f.Verdict.Case}
	}
	pa, pb := pairOf(a), pairOf(b)
	found := func(prompt string) bool { return r.find(t.Context(), r.request(prompt)).Hit != nil }
	trust := r.verdicts.Suspect(pb)
	r.verdicts.Suspect(pb)() // it was suspected already: that stays
	if found(b) || !found(a) {
		t.Errorf("suspected: found %v, and the other one %v", found(b), found(a))
	}
	trust()
	if !found(b) || len(counted) != 0 {
		t.Errorf("trusted again: found %v, counted %v", found(b), counted)
	}
	r.wants(r.request(b), "alias", 1)
	if err := r.verdicts.Feedback(func(*store.Labels) bool { return true }, 1, true, evidence.Feedback); err != nil { // of the client, who is wrong
		t.Error(err)
	}
	for i := range 2 {
		if err := r.verdicts.Reviewed(pb, false); err != nil {
			t.Errorf("verdict %d: %v", i, err)
		}
	}
	r.verdicts.Suspect(pb)() // does not make it right
	if err := r.verdicts.Reviewed(pa, true); err != nil {
		t.Error(err)
	}
	if found(b) {
		t.Error("found after a verdict of wrong")
	}
	if len(counted) != 2 || counted[0].Source != evidence.Feedback || counted[1].Outcome != evidence.Same || counted[1].Source != evidence.Operator {
		t.Errorf("%+v", counted)
	}
	r.wants(r.request(a), "alias", 1)
	if err := r.state.store.Close(); err != nil {
		t.Fatal(err)
	}
	again, _ := newJudged(t, func(so *store.Options, _ *Options) { so.Backing = disk.Reopen() })
	if again.find(t.Context(), again.request(b)).Hit != nil {
		t.Error("found after a restart")
	}
}

// TestAlmost: the first answer that is kept back is noted with the verdict, and none where there is a hit.
func TestAlmost(t *testing.T) {
	r, j := newJudged(t)
	r.wants(r.request(long("k", 40)), "miss", 1)
	if f := r.find(t.Context(), r.request(long("a", 42))); f.Hit == nil || f.Almost != nil {
		t.Errorf("a hit: %+v", f.Almost)
	}
	j.refuses = true
	f := r.find(t.Context(), r.request(long("b", 42)))
	if f.Almost == nil || f.Almost.Entry.ID != 1 || f.Almost.Below || f.Almost.Similarity < 0.9 {
		t.Errorf("kept back: %+v", f.Almost)
	}
}
