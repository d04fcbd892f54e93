package reuse

import (
	"hash/fnv"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// row is a line of a table in testdata.
type row struct{ class, a, b string }

// table reads a file of testdata: class and two texts, with tabs between.
func tableOf(t testing.TB, name string) (rows []row) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Skip(err)
	}
	unescape := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`)
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(f) == 3 && !strings.HasPrefix(line, "#") {
			rows = append(rows, row{f[0], unescape.Replace(f[1]), unescape.Replace(f[2])})
		}
	}
	return rows
}

// held reports whether a row is of the half that was not looked at while the vetoes were written.
func (r row) held() bool {
	h := fnv.New32a()
	h.Write([]byte(r.a + "\x00" + r.b))
	return h.Sum32()>>8&1 == 1
}

// share counts rows that pass.
type share struct{ all, pass int }

func (s *share) add(pass bool) {
	s.all++
	if pass {
		s.pass++
	}
}

func (s share) of() float64 { return 100 * float64(s.pass) / float64(max(1, s.all)) }

// vetoOf is the veto of the judge behind an embedder that calls everything equal: prompts that the list explains have none, and those that
// are compared as they are get one.
func vetoOf(stored, asked string) Veto {
	v := (&Judge{MaxError: 0.01}).Judge(stored, asked, Context{Similarity: 1})
	if v.bar == fixed || v.bar == task {
		return "fixed"
	}
	return v.Veto
}

// TestVetoSets measures what Check, the only judge behind an embedder that calls everything equal, passes of the tables, by class and by half,
// and holds it to what is reached.
func TestVetoSets(t *testing.T) {
	show := os.Getenv("REPRISE_SHOW")
	for _, set := range []struct {
		file     string
		min, max int // pairs that pass
	}{{"paraphrases.tsv", 199, 229}, {"courtesy.tsv", 555, 594}, {"different.tsv", 0, 50}, {"planted.tsv", 0, 5}, {"round1.tsv", 0, 168}} {
		t.Run(set.file, func(t *testing.T) {
			classes := map[string]*share{}
			var halves [2]share
			var back share
			for _, r := range tableOf(t, set.file) {
				stored, asked := r.a, r.b
				if set.file == "planted.tsv" {
					stored, asked = r.b, r.a
				}
				v := Check(stored, asked)
				if os.Getenv("REPRISE_CHECK") == "" {
					v = vetoOf(stored, asked)
				}
				c := classes[r.class]
				if c == nil {
					c = &share{}
					classes[r.class] = c
				}
				c.add(v == Pass)
				half := 0
				if r.held() {
					half = 1
				}
				halves[half].add(v == Pass)
				back.add(vetoOf(asked, stored) == Pass)
				if show != "" && half == 0 && strings.HasPrefix(set.file, strings.TrimLeft(show, "-")) && (v == Pass) != strings.HasPrefix(show, "-") {
					t.Logf("%-10s %-9s %q | %q", r.class, v, stored, asked)
				}
			}
			for _, name := range slices.Sorted(maps.Keys(classes)) {
				t.Logf("%-16s %3d of %3d pass", name, classes[name].pass, classes[name].all)
			}
			if n := halves[0].pass + halves[1].pass; os.Getenv("REPRISE_CHECK") == "" && (n < set.min || n > set.max) {
				t.Errorf("%d pass, want %d to %d", n, set.min, set.max)
			}
			t.Logf("all: %d of %d pass (%.1f %%), half looked at %.1f %%, half held back %.1f %%, stored and asked exchanged %.1f %%", halves[0].pass+halves[1].pass,
				halves[0].all+halves[1].all, share{halves[0].all + halves[1].all, halves[0].pass + halves[1].pass}.of(), halves[0].of(), halves[1].of(), back.of())
		})
	}
}
