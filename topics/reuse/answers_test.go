package reuse

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/dataset"
	"reprise/topics/reuse/evidence"
)

func TestSameAnswer(t *testing.T) {
	const same, different, unknown = evidence.Same, evidence.Different, evidence.Unknown
	for _, c := range []struct {
		a, b string
		want evidence.Outcome
	}{
		{"Paris", "paris.", same},
		{"Sure! The capital of France is **Paris**.", "The capital of France is Paris.", same},
		{"1. Open *Settings*.\n2. Select **Security**.", "- Open Settings.\n- Select Security.\n\nI hope this helps!", same},
		{"The tower was completed in 1889.", "1889", same},
		{"Here's the code:\n```go\nx := 1\n```", "```\nx := 1\n```\nLet me know if you need anything else.", same},
		{"```go\nx := 1\n```", "```go\nX := 1\n```", unknown},
		{"Yes, it is safe.", "No, it is not safe.", different},
		{"Yes.", "no", different},
		{"The Battle of Hastings took place in 1066.", "The Battle of Hastings took place in 1067.", different},
		{"The capital of France is Paris.", "The capital of Spain is Madrid.", different},
		{"Mount Everest is 8,849 m high.", "Mount Everest is 8,848.86 m high.", unknown},
		{"Open Settings and turn on two-factor login.", "Open Settings and turn off two-factor login.", unknown},
		{"To sign in, open the page and enter your email.", "To sign up, open the page and enter your email.", unknown},
		{"", "", unknown},
		{" \n", " \n", unknown},
		{"**", "", unknown},
	} {
		if got := SameAnswer(c.a, c.b); got != c.want {
			t.Errorf("%q, %q: %d, want %d", c.a, c.b, got, c.want)
		}
		if got := SameAnswer(c.b, c.a); got != c.want {
			t.Errorf("%q, %q: %d, want %d", c.b, c.a, got, c.want)
		}
	}
}

// TestAnswers measures SameAnswer on labelled answers.
func TestAnswers(t *testing.T) {
	var wrong, unknown, all [2]int
	for _, r := range tableOf(t, "answers.tsv") {
		kind, want := 0, evidence.Same
		if r.class == "different" {
			kind, want = 1, evidence.Different
		}
		all[kind]++
		switch got := SameAnswer(r.a, r.b); got {
		case want:
		case evidence.Unknown:
			unknown[kind]++
		default:
			wrong[kind]++
			t.Logf("%s: %q, %q", r.class, r.a, r.b)
		}
	}
	t.Logf("of %d pairs with the same information %d are Different, %d Unknown; of %d others %d are Same, %d Unknown", all[0], wrong[0], unknown[0], all[1], wrong[1], unknown[1])
	if wrong[0] > all[0]/50 || wrong[1] > 0 {
		t.Error("too many errors")
	}
}

// TestAnswersData measures SameAnswer on public data below the folder that REPRISE_DATA names: the answers that people gave to one search
// question, many of which do differ, those to two questions, and sentences with a light rewrite.
func TestAnswersData(t *testing.T) {
	dir := os.Getenv("REPRISE_DATA")
	if dir == "" {
		t.Skip("REPRISE_DATA is not set: answers are not measured")
	}
	var one, two, rewritten [3]int
	var last string
	for row, err := range dataset.Rows[struct{ Answer []string }](filepath.Join(dir, "prompts/nq_open_dev.jsonl.gz")) {
		if err != nil {
			t.Fatal(err)
		}
		for _, answer := range row.Answer[1:] {
			one[SameAnswer(row.Answer[0], answer)]++
		}
		two[SameAnswer(last, row.Answer[0])]++
		last = row.Answer[0]
	}
	for row, err := range dataset.Rows[struct{ Origin, Similar string }](filepath.Join(dir, "paraphrase/gptcache_mock.jsonl.gz")) {
		if err != nil {
			t.Fatal(err)
		}
		rewritten[SameAnswer(row.Origin, row.Similar)]++
	}
	for name, n := range map[string][3]int{"of one question": one, "of two questions": two, "rewritten": rewritten} {
		t.Logf("%s: %d Same, %d Different, %d Unknown", name, n[evidence.Same], n[evidence.Different], n[evidence.Unknown])
	}
	if n := rewritten; n[evidence.Different]*50 > n[0]+n[1]+n[2] {
		t.Errorf("%d rewritten sentences are Different", n[evidence.Different])
	}
	if two[evidence.Same] > 5 {
		t.Errorf("%d answers to two questions are Same", two[evidence.Same])
	}
}

// FuzzSameAnswer compares with itself, with courtesy, and both ways.
func FuzzSameAnswer(f *testing.F) {
	for _, r := range tableOf(f, "answers.tsv") {
		f.Add(r.a, r.b)
	}
	f.Add("```\n", "**\n> # 1. `x")
	f.Fuzz(func(t *testing.T, a, b string) {
		if x, y := SameAnswer(a, b), SameAnswer(b, a); x != y {
			t.Fatalf("%q, %q: %d, and %d the other way", a, b, x, y)
		}
		if got := SameAnswer(a, a); got == evidence.Different || got == evidence.Unknown && strings.TrimSpace(a) != "" {
			t.Fatalf("%q is not the same as itself: %d", a, got)
		}
		if got := SameAnswer(a, a+"\n\nI hope this helps!"); got == evidence.Different {
			t.Fatalf("%q is different with courtesy", a)
		}
	})
}

// BenchmarkSameAnswer prints the cost of two answers of 2,000 words, with one word in eight replaced.
func BenchmarkSameAnswer(b *testing.B) {
	x := prose(2000)
	words := strings.Fields(x)
	for i := range words {
		if i%8 == 0 {
			words[i] += "ly"
		}
	}
	y := strings.Join(words, " ")
	b.ReportAllocs()
	for b.Loop() {
		SameAnswer(x, y)
	}
}
