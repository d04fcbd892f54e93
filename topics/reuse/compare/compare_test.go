package compare

import (
	"os"
	"strings"
	"testing"

	"reprise/topics/reuse/evidence"
)

type row struct {
	kind string
	same bool
	Pair
}

func rowsOf(t testing.TB, name string) (rows []row) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	unescape := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`)
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(f) != 6 || strings.HasPrefix(line, "#") {
			continue
		}
		for i := range f {
			f[i] = unescape.Replace(f[i])
		}
		rows = append(rows, row{f[0], f[1] == "same", Pair{f[2], f[3], f[4], f[5]}})
	}
	return rows
}

func TestDev(t *testing.T) {
	var n [2][3]int
	for _, r := range rowsOf(t, "answers.tsv") {
		got := Answers(r.Pair, nil)
		i, want := 0, evidence.Same
		if !r.same {
			i, want = 1, evidence.Different
		}
		n[i][got.Outcome]++
		if got.Outcome != want {
			t.Logf("%v %s same=%v -> %d %s %.2f\n   %q\n   %q\n   %q %q", got.Kind, r.kind, r.same, got.Outcome, got.Why, got.Closeness, r.Stored, r.Fresh, r.StoredPrompt, r.Prompt)
		}
	}
	t.Log("unknown same different:", n)
}

// BenchmarkAnswers prints the cost of two answers of 2,000 words, with one word in eight replaced.
func BenchmarkAnswers(b *testing.B) {
	var x, y strings.Builder
	rows := rowsOf(b, "answers.tsv")
	for i := range 400 {
		s := rows[i%len(rows)].Stored
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
