package cache

import (
	"math"
	"testing"
	"time"

	"reprise/store"
	"reprise/topics/reuse/evidence"
)

// TestPassedIsWhatThePolicySees: every request in its order, under the identity of the entry that answers it.
func TestPassedIsWhatThePolicySees(t *testing.T) {
	var all []Passed
	r, _ := newJudged(t, func(_ *store.Options, o *Options) { o.Passed = func(p *Passed) { all = append(all, *p) } })
	first, near := long("k", 40), long("a", 42)
	r.wants(r.request(first), "miss", 1)
	r.wants(r.request(first), "exact", 1)
	r.wants(r.request(near), "semantic", 1)
	r.pass(2 * time.Hour)
	r.wants(r.request(first), "miss", 1)
	other := long("b", 80)
	r.wants(r.request(other, func(q *Request) { q.Parent = keyOf(first) }), "miss", 2)
	r.note(r.Settle())
	who, topic := keyOf(first).Short(), all[0].Topic
	for i, want := range []Passed{{Who: who}, {Who: who, Hit: true}, {Who: who, Hit: true}, {Who: who, Renewed: true}, {Who: keyOf(other).Short(), Parent: who}} {
		if i >= len(all) {
			t.Fatalf("%d requests, want 5", len(all))
		}
		got := all[i]
		if got.Who != want.Who || got.Hit != want.Hit || got.Renewed != want.Renewed || i == 4 && got.Parent != who || got.Size == 0 || topic == 0 || i < 4 && got.Topic != topic ||
			i > 0 && got.At.Seq <= all[i-1].At.Seq {
			t.Errorf("request %d: %+v, want %+v", i+1, got, want)
		}
	}
	if len(all) != 5 {
		t.Errorf("%d requests, want 5", len(all))
	}
}

// TestJudgedIsWhatOtherSettingsCouldChange: answers above the gate, and of one request in 16 the nearest one below it, which is not served.
func TestJudgedIsWhatOtherSettingsCouldChange(t *testing.T) {
	var all []Judged
	r, j := newJudged(t, func(_ *store.Options, o *Options) { o.Judged = func(x *Judged) { all = append(all, *x) } })
	r.wants(r.request(long("k", 40)), "miss", 1)
	r.wants(r.request(long("a", 42)), "semantic", 1)
	r.wants(r.request(long("k", 40)+"."), "semantic", 1)
	j.explores = true
	q := r.request(long("b", 43))
	f := r.find(t.Context(), q)
	r.Compared(q, f, evidence.Different, evidence.Explored)
	j.explores = false
	if len(all) != 4 || all[0].Form || !all[1].Form || all[0].Weight != 1 || math.Abs(all[0].Case.Similarity-cosine(2)) > 1e-3 ||
		all[2].Seq != q.At.Seq || all[3].Seq != q.At.Seq || all[3].Outcome != evidence.Different {
		t.Fatalf("%+v", all)
	}
	all = nil
	seen := 0
	for range 2 * belowShare {
		how := r.find(t.Context(), r.request(long("c", 47)))
		if how.Hit != nil || how.Explore != nil { // at 7 degrees
			t.Fatal("an answer below the gate was found")
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
