package compare

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/dataset"
	"reprise/topics/reuse/evidence"
)

// TestExamples are examples of each rule.
func TestExamples(t *testing.T) {
	const same, different, unknown = evidence.Same, evidence.Different, evidence.Unknown
	for _, c := range []struct {
		a, b string
		want evidence.Outcome
		why  string
	}{
		{"", "", unknown, "empty"},
		{" \n", "**", unknown, "empty"},
		{"Paris", "Paris", same, "equal"},
		{strings.Repeat("a ", longest), "b", unknown, "long"},
		{"Sure! The capital of France is **Paris**.", "The capital of France is Paris.", same, "equal"},
		{"1. Open *Settings*.\n2. Select **Security**.", "- Open Settings.\n- Select Security.\n\nI hope this helps!", same, "equal"},
		{"spam", "ham", different, "short"},
		{"1889", "The tower was completed in 1889.", same, "short"},
		{"1889", "The tower was completed in 1887.", different, "short"},
		{"Yes", "Yes, dogs are welcome.", same, "short"},
		{"Yes", "No, dogs are not welcome.", different, "short"},
		{"positive", "The sentiment of this review is positive.", unknown, "short"},
		{`{"a":1,"b":["x"]}`, "```json\n{\"b\": [\"X\"], \"a\": 1.0}\n```", same, "json"},
		{`{"a":1}`, `{"a":"1"}`, different, "json:member"},
		{`{"a":1}`, `{"a":1,"b":null}`, different, "json:member"},
		{`{"a":[1,2]}`, `{"a":[2,1]}`, different, "json:member"},
		{`{"a":1}`, "The value of a is one in this case.", different, "json"},
		{`{"tool":"f","arguments":{}}{"tool":"g","arguments":{}}`, `{"tool":"f","arguments":{}}`, different, "json:member"},
		{"Yes, it is safe to eat.", "No, it is unsafe to eat.", different, "polarity"},
		{"You can pay with a card.", "Sie können mit der Karte zahlen und das ist sicher.", different, "language"},
		{"Run `ls -lS` to list files.", "Run `ls -lt` to list files.", different, "code"},
		{"Bake it for 40 minutes at 180 °C.", "Bake it for 12 minutes at 180 °C.", different, "number"},
		{"Bake it for an hour at 180 °C.", "Bake it for an hour at 180 °F.", different, "number"},
		{"Mount Everest is 8,849 m high.", "Mount Everest is 8,848.86 m high.", same, "closeness"},
		{"The trial ends on 3 May as agreed.", "The trial ends on 3 March as agreed.", different, "number"},
		{"The capital of that country is Paris.", "The capital of that country is Madrid.", different, "name"},
		{"Open Settings and turn on dark mode.", "Open Settings and turn off dark mode.", different, "opposite"},
		{"The flight from Oslo to Rome takes 3 hours.", "The flight from Rome to Oslo takes 3 hours.", different, "order"},
		{"- red\n- blue\n- green", "1. Blue\n2. Red\n3. Green", same, "items"},
		{"- red\n- blue\n- green", "- red\n- blue\n- black", different, "items"},
		{"1. Cut the power.\n2. Open the case.", "1. Open the case.\n2. Cut the power.", different, "items"},
		{"Click the icon and restart the computer.", "Click the icon and restart the printer.", different, "word"},
	} {
		for _, p := range []Pair{{Stored: c.a, Fresh: c.b}, {Stored: c.b, Fresh: c.a}} {
			if got := Answers(p, nil); got.Outcome != c.want || got.Why != c.why {
				t.Errorf("%q: %d by %s, want %d by %s", p, got.Outcome, got.Why, c.want, c.why)
			}
		}
	}
}

// TestNoise shows what the noise of a scope changes: answers as close as usual are the same, those far from all are different, and facts stay.
func TestNoise(t *testing.T) {
	const same, different, unknown = evidence.Same, evidence.Different, evidence.Unknown
	talkative, exact, poems := &Noise{4: 1, 5: 5, 6: 4}, &Noise{10: 8}, &Noise{0: 5, 1: 3}
	far := Pair{Stored: "The engine overheats because the pump leaks coolant onto the belt.", Fresh: "A leak of coolant at the pump makes your motor too hot when driving."}
	for _, c := range []struct {
		name string
		pair Pair
		n    *Noise
		want evidence.Outcome
	}{
		{"apart, nothing known", far, nil, different},
		{"apart, too little known", far, &Noise{3: 3}, unknown},
		{"close, too little known", Pair{Stored: "The engine overheats because the pump leaks.", Fresh: "Because the pump leaks, the engine overheats."}, &Noise{}, unknown},
		{"apart, usual here", far, &Noise{3: 4}, same},
		{"apart, near the least", far, talkative, unknown},
		{"apart, far below the least", far, exact, different},
		{"apart, but noise says nothing", far, poems, different},
		{"another label", Pair{Stored: "formal", Fresh: "casual"}, poems, different},
		{"another label, noise of labels", Pair{Stored: "formal", Fresh: "casual"}, &Noise{0: 5, 10: 5}, different},
		{"another number", Pair{Stored: "It takes 3 days to deliver.", Fresh: "It takes 5 days to deliver."}, &Noise{3: 9}, different},
		{"another step", Pair{Stored: "Click the icon and restart the computer.", Fresh: "Click the icon and restart the printer."}, &Noise{3: 9}, unknown},
	} {
		if got := Answers(c.pair, c.n); got.Outcome != c.want {
			t.Errorf("%s: %d by %s %.2f, want %d", c.name, got.Outcome, got.Why, got.Closeness, c.want)
		}
	}
}

// TestAnswersData measures Answers on public data below the folder that REPRISE_DATA names: the answers that people gave to one search
// question, many of which do differ, those to two questions, sentences with a light rewrite, and utterances translated there and back.
func TestAnswersData(t *testing.T) {
	dir := os.Getenv("REPRISE_DATA")
	if dir == "" {
		t.Skip("REPRISE_DATA is not set: answers are not measured")
	}
	var one, two, rewritten, translated tally
	last := ""
	for row, err := range dataset.Rows[struct{ Answer []string }](filepath.Join(dir, "prompts/nq_open_dev.jsonl.gz")) {
		if err != nil {
			t.Fatal(err)
		}
		for _, answer := range row.Answer[1:] {
			one[Answers(Pair{Stored: row.Answer[0], Fresh: answer}, nil).Outcome]++
		}
		two[Answers(Pair{Stored: last, Fresh: row.Answer[0]}, nil).Outcome]++
		last = row.Answer[0]
	}
	for row, err := range dataset.Rows[struct{ Origin, Similar string }](filepath.Join(dir, "paraphrase/gptcache_mock.jsonl.gz")) {
		if err != nil {
			t.Fatal(err)
		}
		rewritten[Answers(Pair{Stored: row.Origin, Fresh: row.Similar}, nil).Outcome]++
	}
	for row, err := range dataset.Rows[struct{ A, B string }](filepath.Join(dir, "paraphrase/clinc150_backtranslated.jsonl.gz")) {
		if err != nil {
			t.Fatal(err)
		}
		translated[Answers(Pair{Stored: row.A, Fresh: row.B}, nil).Outcome]++
	}
	for name, n := range map[string]tally{"of one question": one, "of two questions": two, "rewritten": rewritten, "translated": translated} {
		t.Logf("%s: %d, same %.1f %%, different %.1f %%, unknown %.1f %%", name, n.all(), n.share(evidence.Same), n.share(evidence.Different), n.share(evidence.Unknown))
	}
	if two[evidence.Same] > 36 {
		t.Errorf("%d answers to two questions are the same", two[evidence.Same])
	}
}

// FuzzAnswers compares both ways, with themselves and with courtesy.
func FuzzAnswers(f *testing.F) {
	for _, r := range rowsOf(f) {
		f.Add(r.StoredPrompt, r.Prompt, r.Stored, r.Fresh)
	}
	f.Add("a", "b", "```\n", "**\n> # 1. `x")
	f.Add("", "1", "法国的首都是巴黎。", "西班牙的首都是马德里Ӏ") // letters of two scripts
	f.Fuzz(func(t *testing.T, v, w, a, b string) {
		x, y := Answers(Pair{v, w, a, b}, nil), Answers(Pair{w, v, b, a}, nil)
		if x != y {
			t.Fatalf("%q, %q: %v, and %v the other way", a, b, x, y)
		}
		if !(x.Closeness >= 0 && x.Closeness <= 1) {
			t.Fatalf("%q, %q: closeness %v", a, b, x.Closeness)
		}
		if got := Answers(Pair{v, w, a, a}, nil); got.Outcome != evidence.Same && strings.TrimSpace(a) != "" {
			t.Fatalf("%q is not the same as itself: %v", a, got)
		}
		if got := Answers(Pair{Stored: a, Fresh: a + " "}, nil); got.Outcome == evidence.Different {
			t.Fatalf("%q is different with a space: %v", a, got)
		}
		Quotes(a, v, w)
	})
}

// TestLinear holds the work for hostile texts of 64 KiB to a number of allocations: texts of numbers, names, marks, quotations, items and braces.
func TestLinear(t *testing.T) {
	for _, unit := range []string{"17.5 ", "Anna ", "? ", "`a` ", "\"a ", "- a\n", "a, ", "{", "on ", "¡", "东", "```\n", "a'b "} {
		a := strings.Repeat(unit, longest/len(unit)-1)
		b := strings.Repeat(strings.Replace(unit, "a", "b", 1), longest/len(unit)-1)
		Answers(Pair{"how do i " + a, "How do I " + b, a, b}, nil)
		Answers(Pair{a, b, a, strings.ToUpper(b)}, nil)
	}
}
