package compare

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"reprise/topics/reuse/evidence"
)

type row struct {
	half, kind string
	same       bool
	Pair
}

func rowsOf(t testing.TB) (rows []row) {
	t.Helper()
	data, err := os.ReadFile("testdata/answers.tsv")
	if err != nil {
		t.Fatal(err)
	}
	unescape := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`)
	half := "dev"
	for line := range strings.Lines(string(data)) {
		if name, ok := strings.CutPrefix(line, "# The half "); ok {
			half, _, _ = strings.Cut(name, ",")
		}
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(f) != 6 || strings.HasPrefix(line, "#") {
			continue
		}
		for i := range f {
			f[i] = unescape.Replace(f[i])
		}
		rows = append(rows, row{half, f[0], f[1] == "same", Pair{f[2], f[3], f[4], f[5]}})
	}
	return rows
}

// tally counts outcomes of pairs with one label.
type tally [3]int

func (n tally) all() int { return n[0] + n[1] + n[2] }
func (n tally) share(o evidence.Outcome) float64 {
	return 100 * float64(n[o]) / float64(max(1, n.all()))
}

// TestAnswers measures Answers on the labelled pairs, half by half and kind by kind. The rules were written with the half dev in view; the half test was
// written after them.
func TestAnswers(t *testing.T) {
	for _, half := range []string{"dev", "test", "fresh"} {
		kinds := map[string]*[2]tally{"all": {}}
		for _, r := range rowsOf(t) {
			if r.half != half {
				continue
			}
			label, want := 0, evidence.Same
			if !r.same {
				label, want = 1, evidence.Different
			}
			got := Answers(r.Pair, nil)
			if kinds[r.kind] == nil {
				kinds[r.kind] = &[2]tally{}
			}
			kinds[r.kind][label][got.Outcome]++
			kinds["all"][label][got.Outcome]++
			if got.Outcome != want && os.Getenv("REPRISE_SHOW") == half {
				t.Logf("%s: is %d by %s %s %.2f, want %d: %q", r.kind, got.Outcome, got.Kind, got.Why, got.Closeness, want, r.Pair)
			}
		}
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			same, different := kinds[kind][0], kinds[kind][1]
			t.Logf("%-4s %-8s same: %3d, unknown %4.1f %%, called different %4.1f %%; different: %3d, unknown %4.1f %%, called same %4.1f %%", half, kind,
				same.all(), same.share(evidence.Unknown), same.share(evidence.Different), different.all(), different.share(evidence.Unknown), different.share(evidence.Same))
		}
		same, different := kinds["all"][0], kinds["all"][1]
		if different.share(evidence.Same) > 1 {
			t.Errorf("%s: %d of %d different answers are called the same", half, different[evidence.Same], different.all())
		}
		if unknown := same[evidence.Unknown] + different[evidence.Unknown]; unknown*100 > 15*(same.all()+different.all()) {
			t.Errorf("%s: %d answers are unknown", half, unknown)
		}
	}
}

// BenchmarkAnswers prints the cost of two answers of 2,000 words, with one word in eight replaced.
func BenchmarkAnswers(b *testing.B) {
	var x, y strings.Builder
	rows := rowsOf(b)
	for _, r := range rows {
		s := r.Stored
		if r.kind != "long" && r.kind != "support" || strings.Contains(s, "\n") {
			continue
		}
		for j, w := range strings.Fields(s) {
			x.WriteString(w + " ")
			if j%8 == 0 {
				w = "other"
			}
			y.WriteString(w + " ")
		}
		if len(strings.Fields(x.String())) > 2000 {
			break
		}
	}
	p := Pair{"How do I reset my password?", "how do i reset my password", x.String(), y.String()}
	b.ReportAllocs()
	for b.Loop() {
		Answers(p, nil)
	}
}

// BenchmarkQuotes prints the cost for an answer of 100 words.
func BenchmarkQuotes(b *testing.B) {
	answer := strings.Repeat("To reset your password, open Settings and click Reset. ", 12)
	b.ReportAllocs()
	for b.Loop() {
		Quotes(answer, "How do I reset my password?", "please tell me how do i reset my password")
	}
}
