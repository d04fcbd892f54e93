package normal

import (
	"os"
	"strings"
	"testing"
)

// pair is a line of a table of prompts.
type pair struct{ class, a, b string }

func readPairs(t *testing.T, name string) (all []pair) {
	t.Helper()
	text, err := os.ReadFile("../testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	plain := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`)
	for line := range strings.Lines(string(text)) {
		if f := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(f) == 3 && !strings.HasPrefix(line, "#") {
			all = append(all, pair{f[0], plain.Replace(f[1]), plain.Replace(f[2])})
		}
	}
	return all
}

// TestCourtesySet has pairs of one question with courtesy, frames, contractions, spelling, case and marks. The rest is for the list of edits.
func TestCourtesySet(t *testing.T) {
	equal, all := map[string]int{}, map[string]int{}
	for _, p := range readPairs(t, "courtesy.tsv") {
		all[p.class]++
		all["all"]++
		if Of(p.a).Equal(Of(p.b)) {
			equal[p.class]++
			equal["all"]++
		}
	}
	t.Logf("of %v pairs %v have one form", all, equal)
	// 97 % would be wanted, and was reached by rules that made one form of questions with two meanings, too.
	if share := float64(equal["all"]) / float64(all["all"]); share < 0.9 {
		t.Errorf("%.3f of the pairs have one form, want 0.9", share)
	}
}

// TestDifferentSets has questions that look nearly the same, and questions with words that plant another answer: no two have one form, as
// they are and behind text that they share.
func TestDifferentSets(t *testing.T) {
	sentence := "The customer is in our database and has a contract that runs to the end of next year, with a bill each month by post. "
	for _, file := range []string{"different.tsv", "planted.tsv", "round1.tsv"} {
		for _, before := range []string{"", strings.Repeat(sentence, 2), strings.Repeat(sentence, 13), "Answer briefly. Question: "} {
			fixed, pairs := 0, readPairs(t, file)
			for _, p := range pairs {
				a, b := Of(before+p.a), Of(before+p.b)
				if a.Equal(b) {
					t.Errorf("%s, behind %d words: %q and %q have one form: %s", file, len(strings.Fields(before)), p.a, p.b, state(a))
				}
				if a.Fixed != "" || b.Fixed != "" {
					fixed++
				}
			}
			t.Logf("%s, behind %d words: %d pairs, %d not compared by tokens", file, len(strings.Fields(before)), len(pairs), fixed)
		}
	}
}
