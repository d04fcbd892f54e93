package reuse

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"reprise/topics/reuse/edits"
	"reprise/topics/reuse/normal"
)

// templates are texts of 0, 50 and 300 words in front of a prompt.
func templates() []string {
	const line = "You are the assistant of a shop for garden tools. Answer the customer politely and name the page of the manual where it helps. "
	return []string{"", strings.Repeat(line, 2), strings.Repeat(line, 13)}
}

// shares counts by class.
type shares map[string][2]int // pairs, and those of interest

func (s shares) count(class string, is bool) {
	c := s[class]
	c[0]++
	if is {
		c[1]++
	}
	s[class] = c
}

func (s shares) all() (n, of int) {
	for _, c := range s {
		n, of = n+c[1], of+c[0]
	}
	return n, of
}

func (s shares) String() string {
	var b strings.Builder
	n, of := s.all()
	fmt.Fprintf(&b, "%d of %d", n, of)
	for _, class := range slices.SortedFunc(maps.Keys(s), func(a, b string) int { return cmp.Compare(s[b][1]*s[a][0], s[a][1]*s[b][0]) }) {
		fmt.Fprintf(&b, ", %s %d/%d", class, s[class][1], s[class][0])
	}
	return b.String()
}

func andWhy(list []edits.Edit) bool { return len(list) == 1 && list[0].Class.Name() == "why" }

// TestNothingDifferentIsServed judges pairs of different meaning as an embedder of words would find them: as they are and behind templates,
// in both directions.
func TestNothingDifferentIsServed(t *testing.T) {
	for _, file := range []string{"different.tsv", "planted.tsv", "round1.tsv", "round2e.tsv"} {
		for i, template := range templates() {
			served := shares{}
			for _, p := range triples(t, file) {
				for _, q := range [][2]string{{p.a, p.b}, {p.b, p.a}} {
					v := lexicalJudge.Judge(template+q[0], template+q[1], sure)
					if andWhy(v.Edits) && len(q[0]) > len(q[1]) {
						continue // the answer to "X and why" has that to "X"
					}
					served.count(p.class, v.Decision == Serve)
					if v.Decision == Serve {
						t.Errorf("%s, template %d: %s: %q answers %q: %s", file, i, p.class, q[0], q[1], v.Why())
					}
				}
			}
			t.Logf("%s, template %d: served %v", file, i, served)
		}
	}
}

// TestRoundsAreHeld counts the pairs of different meaning that are served although they should not be, so that there are no more of them. The
// list of edits explains none, and behind a template none is served. An order in front of a labelled line is what the trust of a scope is for: it
// has shown nothing here.
func TestRoundsAreHeld(t *testing.T) {
	for _, set := range []struct {
		file string
		max  int
	}{{"round3a.tsv", 33}, {"round3b.tsv", 7}} {
		for i, template := range templates() {
			there, back := shares{}, shares{}
			for _, p := range triples(t, set.file) {
				c := sure
				if normal.Front(template+p.a) != "" {
					c.Trust = Earned
				}
				there.count(p.class, lexicalJudge.Judge(template+p.a, template+p.b, c).Decision == Serve)
				back.count(p.class, lexicalJudge.Judge(template+p.b, template+p.a, c).Decision == Serve)
			}
			t.Logf("%s, template %d: served %v; the other way %v", set.file, i, there, back)
			limit := set.max
			if i > 0 {
				limit = 0
			}
			for _, way := range []shares{there, back} {
				if n, of := way.all(); n > limit || of == 0 {
					t.Errorf("%s, template %d: %d of %d are served, want at most %d", set.file, i, n, of, limit)
				}
			}
		}
	}
}

// TestCourtesyIsServed judges pairs that ask the same with other courtesy, frames, spelling and case.
func TestCourtesyIsServed(t *testing.T) {
	served := shares{}
	for _, p := range triples(t, "courtesy.tsv") {
		for _, q := range [][2]string{{p.a, p.b}, {p.b, p.a}} {
			v := lexicalJudge.Judge(q[0], q[1], sure)
			served.count(p.class, v.Decision == Serve)
			if v.Decision != Serve {
				t.Logf("%s: %q does not answer %q: %s", p.class, q[0], q[1], v.Why())
			}
		}
	}
	t.Logf("served %v", served)
	// 97 % would be wanted. The rules that reached it served pairs that were written against them, too.
	if n, of := served.all(); float64(n) < 0.9*float64(of) {
		t.Errorf("%d of %d are served, want 90 %%", n, of)
	}
}

// TestParaphrases judges free paraphrases: an embedder of words leaves most to the upstream, one that calls everything equal is refused by
// vetoes alone.
func TestParaphrases(t *testing.T) {
	served, passed, vetoes := shares{}, shares{}, map[Veto]int{}
	for _, p := range triples(t, "paraphrases.tsv") {
		served.count(p.class, lexicalJudge.Judge(p.a, p.b, sure).Decision == Serve)
		v := denseJudge.Judge(p.a, p.b, sure)
		passed.count(p.class, v.Decision != Miss)
		if v.Decision == Miss {
			vetoes[v.Veto]++
			t.Logf("%s: %q does not answer %q: %s", p.class, p.a, p.b, v.Why())
		}
	}
	t.Logf("by words: served %v", served)
	t.Logf("by meaning: passed %v; refused by %v", passed, vetoes)
	// Of the half that was not looked at while the vetoes were written, 77 % pass: TestVetoSets prints both.
	if n, of := passed.all(); float64(n) < 0.85*float64(of) {
		t.Errorf("%d of %d pass the vetoes, want 85 %%", n, of)
	}
	wrong := shares{}
	for _, p := range triples(t, "different.tsv") {
		wrong.count(p.class, denseJudge.Judge(p.a, p.b, sure).Decision != Miss)
	}
	t.Logf("by meaning, of different meaning: passed %v", wrong)
	if n, of := wrong.all(); float64(n) > 0.065*float64(of) {
		t.Errorf("%d of %d pairs of different meaning pass the vetoes, want at most 6.5 %%", n, of)
	}
}
