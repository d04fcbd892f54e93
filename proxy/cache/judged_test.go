package cache

import (
	"math"
	"testing"
	"time"

	"reprise/policy"
	"reprise/store"
)

// TestPassedIsWhatThePolicySees: every request in its order, under the identity of the entry that answers it.
func TestPassedIsWhatThePolicySees(t *testing.T) {
	var all []Passed
	r, _ := newJudged(t, func(_ *store.Options, o *Options) { o.Studied = true })
	wants := func(q *Request, how string, id policy.ID) {
		t.Helper()
		r.wants(q, how, id)
		if passed := q.Passed; passed.Hit {
			all = append(all, passed)
		} else {
			all = append(all, r.last.Passed)
		}
	}
	first, near := long("k", 40), long("a", 42)
	wants(r.request(first), "miss", 1)
	wants(r.request(first), "exact", 1)
	wants(r.request(near), "semantic", 1)
	r.pass(2 * time.Hour)
	wants(r.request(first), "miss", 1)
	other := long("b", 80)
	wants(r.request(other, func(q *Request) { q.Parent = keyOf(first) }), "miss", 2)
	who, topic := keyOf(first).Short(), all[0].Topic
	for i, want := range []Passed{{Who: who}, {Who: who, Hit: true}, {Who: who, Hit: true}, {Who: who, Renewed: true}, {Who: keyOf(other).Short(), Parent: who}} {
		got := all[i]
		if got.Who != want.Who || got.Hit != want.Hit || got.Renewed != want.Renewed || i == 4 && got.Parent != who || got.Size == 0 || topic == 0 || i < 4 && got.Topic != topic ||
			i > 0 && got.At.Seq <= all[i-1].At.Seq {
			t.Errorf("request %d: %+v, want %+v", i+1, got, want)
		}
	}
}

// TestJudgedIsWhatOtherSettingsCouldChange: answers above the gate, and of one request in 16 the nearest one below it, which is not served.
func TestJudgedIsWhatOtherSettingsCouldChange(t *testing.T) {
	r, j := newJudged(t, func(_ *store.Options, o *Options) { o.Studied = true })
	r.wants(r.request(long("k", 40)), "miss", 1)
	if first := r.last.Judged; first != nil {
		t.Errorf("of the first request: %+v", first)
	}
	r.wants(r.request(long("a", 42)), "semantic", 1)
	if near := r.last.Judged; near == nil || near.Form || near.Weight != 1 || math.Abs(near.Case.Similarity-cosine(2)) > 1e-3 {
		t.Errorf("%+v", near)
	}
	r.wants(r.request(long("k", 40)+"."), "semantic", 1)
	if form := r.last.Judged; form == nil || !form.Form {
		t.Errorf("%+v", form)
	}
	j.explores = true
	q := r.request(long("b", 43))
	if explored := r.find(t.Context(), q).Judged; explored == nil || explored.Seq != q.At.Seq {
		t.Errorf("%+v", explored)
	}
	j.explores = false
	var all []*Judged
	seen := 0
	for range 2 * belowShare {
		how := r.find(t.Context(), r.request(long("c", 47)))
		if how.Hit != nil || how.Explore != nil { // at 7 degrees
			t.Fatal("an answer below the gate was found")
		}
		if how.Judged != nil {
			all = append(all, how.Judged)
		}
		if near := how.Almost; near != nil {
			if seen++; !near.Below || near.Entry.ID != 1 || math.Abs(near.Similarity-cosine(7)) > 1e-3 {
				t.Errorf("almost: %+v", near)
			}
		}
	}
	if len(all) != 2 || seen != 2 || all[0].Weight != belowShare || math.Abs(all[0].Case.Similarity-cosine(7)) > 1e-3 || all[0].Seq%belowShare != 0 {
		t.Errorf("below the gate: %+v", all)
	}
}
