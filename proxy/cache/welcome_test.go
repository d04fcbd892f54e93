package cache

import (
	"testing"

	"reprise/store"
	"reprise/topics/reuse"
	"reprise/topics/reuse/evidence"
	"reprise/topics/reuse/normal"
)

// explorer explores whatever a draw allows.
type explorer struct{ explained bool }

func (e explorer) Forms(_, _ *normal.Form, c reuse.Context) reuse.Verdict {
	v := reuse.Verdict{Decision: reuse.Serve, P: 0.999, Case: evidence.Case{Hit: true, Explained: e.explained}}
	if c.Draw < neverExplore {
		v.Decision = reuse.Explore
	}
	return v
}

func (explorer) Serves(*evidence.Case, float64) bool { return true }

// TestFirstHitsAreNotExplored: a paraphrase that is tried in a new process is a hit. Given draws are left as they are.
func TestFirstHitsAreNotExplored(t *testing.T) {
	for _, given := range []bool{false, true} {
		r := newRig(t, func(_ *store.Options, o *Options) {
			o.Judge = func(*evidence.Rates) Judge { return explorer{} }
			if given {
				o.Draw = func() float64 { return 0.5 }
			}
		})
		r.wants(r.request(letters(40)), "miss", 1)
		hits := 0
		for range 2 * welcome {
			if f := r.find(t.Context(), r.request(letters(43))); f.Hit != nil {
				hits++
			} else if f.Explore == nil {
				t.Fatal("neither served nor explored")
			}
		}
		if want := map[bool]int{false: welcome, true: 0}[given]; hits != want {
			t.Errorf("draws given %v: %d hits of %d before the first exploration, want %d", given, hits, 2*welcome, want)
		}
	}
}

// TestConversationsGoOn: behind earlier turns nothing is explored that the list explains, and what rests on a similarity alone is.
func TestConversationsGoOn(t *testing.T) {
	for _, explained := range []bool{false, true} {
		r := newRig(t, func(_ *store.Options, o *Options) {
			o.Judge = func(*evidence.Rates) Judge { return explorer{explained} }
			o.Draw = func() float64 { return 0 }
		})
		second := func(q *Request) { q.Turns = []Turn{{Key: store.Key{1}, Answer: [32]byte{2}, AnswerText: [32]byte{2}}} }
		r.wants(r.request(letters(40), second), "miss", 1)
		if f := r.find(t.Context(), r.request(letters(43), second)); (f.Hit != nil) != explained {
			t.Errorf("explained %v: %+v", explained, f)
		}
		r.wants(r.request(letters(50)), "miss", 2)
		if f := r.find(t.Context(), r.request(letters(53))); f.Hit != nil || f.Explore == nil {
			t.Errorf("explained %v, a first turn: %+v", explained, f)
		}
	}
}
