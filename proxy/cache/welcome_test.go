package cache

import (
	"testing"

	"reprise/policy/reuse"
	"reprise/policy/reuse/evidence"
	"reprise/policy/reuse/normal"
	"reprise/store"
)

// explorer explores whatever a draw allows.
type explorer struct{}

func (explorer) Forms(_, _ *normal.Form, c reuse.Context) reuse.Verdict {
	v := reuse.Verdict{Decision: reuse.Serve, P: 0.999, Case: evidence.Case{Hit: true}}
	if c.Draw < neverExplore {
		v.Decision = reuse.Explore
	}
	return v
}

func (explorer) Serves(*evidence.Case) bool { return true }

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
