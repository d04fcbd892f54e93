package frames

import (
	"math/rand"
	"strings"
	"testing"
)

// TestDeclare: an expression needs the group, and has bounds; the error says what is allowed.
func TestDeclare(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"", "allowed are 1 to 256"},
		{strings.Repeat("x", 250) + "(?P<ask>y)", "allowed are 1 to 256"},
		{"Question: (.+)", "needs one group (?P<ask>…)"},
		{"Question: (?P<asks>.+)", "needs one group (?P<ask>…)"},
		{"Question: (?P<ask>.+", "missing closing )"},
		{"(?P<ask>a)|(?P<ask>b)", "needs one group (?P<ask>…)"},
		{"(?P<ask>.{1,300})", "steps, with what it repeats; at most 128"},
		{"(?P<ask>(a{30}b{30}){10})", "at most 128"},
		{"(?P<ask>(?:x{1000}){1000})", "invalid repeat count"},
		{"(?P<ask>" + strings.Repeat(`\pL`, 4) + ")", "at most 128"}, // of 5 KiB each
		{`(?P<ask>\w+[^\n]+\pL)`, ""},
		{"Question: (?P<ask>.+)$", ""},
	} {
		d, err := Declare(c.text, 256)
		switch {
		case c.says == "" && (err != nil || d.String() != c.text):
			t.Errorf("%.40q: %v", c.text, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%.40q: error %v, want %q", c.text, err, c.says)
		}
	}
}

// TestDeclaredCut: the group of the first match asks. All else is in Rest.
func TestDeclaredCut(t *testing.T) {
	const prompt = "Notes.\nQuestion: one?\nQuestion: two?"
	for _, c := range []struct{ text, ask string }{
		{"Question: (?P<ask>.+)$", "two?"},
		{"(?m)Question: (?P<ask>.+)$", "one?"},
		{"(?s)Question: (?P<ask>.+)$", "one?\nQuestion: two?"},
		{"(?s)^.*Question: (?P<ask>.+)$", "two?"},
		{"Answer: (?P<ask>.+)$", ""},
		{"Question: (?P<ask>x*)", ""},
		{"(?P<ask>x)|Notes", ""},
	} {
		d, err := Declare(c.text, 256)
		if err != nil {
			t.Fatal(err)
		}
		cut, ok := d.Cut(&Prompt{Text: prompt})
		if prompt[cut.From:cut.To] != c.ask || ok != (c.ask != "") {
			t.Errorf("%s: %q asks, %v; want %q", c.text, prompt[cut.From:cut.To], ok, c.ask)
		}
		if other, _ := d.Cut(&Prompt{Text: strings.Replace(prompt, "Notes", "Votes", 1)}); ok && (other.Rest == cut.Rest || other.ID != cut.ID) {
			t.Errorf("%s: the rest is not told apart", c.text)
		}
	}
}

// TestWithin: under a narrower cut, prompts are compared only where they would be without it, and what differs is what both allow.
func TestWithin(t *testing.T) {
	const prompt = "Tom: Question: when does it open?\nQuestion: and on Sundays?"
	wide := map[string]Cut{"all": {To: len(prompt)}, "nothing": {}, "front": {ID: [32]byte{1}, To: 20}, "label": Whole(prompt)}
	for _, c := range []struct{ wide, text, ask string }{
		{"all", "(?P<ask>Q.+)$", "Question: and on Sundays?"},
		{"label", "(?P<ask>Q.+)$", "and on Sundays?"},
		{"label", "(?P<ask>Tom)", ""},
		{"front", "(?P<ask>Tom)", "Tom"},
		{"front", "Question: (?P<ask>.*)", "when "},
		{"nothing", "(?P<ask>Tom)", ""},
		{"all", "(?P<ask>nowhere)", ""},
	} {
		d, err := Declare(c.text, 256)
		if err != nil {
			t.Fatal(err)
		}
		of := wide[c.wide]
		cut := d.Within(of, prompt)
		if got := prompt[cut.From:cut.To]; got != c.ask || cut.From < of.From && got != "" || cut.To > of.To || cut.ID == of.ID {
			t.Errorf("%s, %s: %q asks, want %q", c.wide, c.text, got, c.ask)
		}
		other := of
		other.Rest[0]++
		if d.Within(other, prompt).Rest == cut.Rest {
			t.Errorf("%s, %s: prompts that are not compared without it are compared", c.wide, c.text)
		}
	}
	d, err := Declare("(?P<ask>Tom)", 256)
	if err != nil {
		t.Fatal(err)
	}
	if long := prompt + strings.Repeat(" ", mostNarrowed); d.Within(Cut{To: len(long)}, long).To != 0 {
		t.Error("a prompt that is too long for it is looked through")
	}
}

// TestRule: the rule of a frame lets the same part of other prompts ask.
func TestRule(t *testing.T) {
	w := texts{rand.New(rand.NewSource(2))}
	for _, template := range templates {
		var l Learner
		for range 40 {
			l.Observe(Read(fill(template, w.doc(), w.ask())))
		}
		text := fill(template, w.doc(), w.ask())
		f := l.Find(Read(text))
		if f == nil {
			t.Fatalf("%q: no frame", template)
		}
		d, err := Declare(f.Rule(Read(text)), 1024)
		if err != nil {
			t.Errorf("%q: %v", template, err)
			continue
		}
		for range 100 {
			p := Read(fill(template, w.doc(), w.ask()))
			want, _ := f.Cut(p)
			got, ok := d.Cut(p)
			if !ok || want.From < want.To && (got.From != want.From || got.To != want.To) {
				t.Fatalf("%s: %q asks of %q, want %q", d, p.Text[got.From:got.To], p.Text, p.Text[want.From:want.To])
			}
		}
	}
}

// BenchmarkWithin is the most that a client's expression of 128 steps costs in a prompt of the longest length.
func BenchmarkWithin(b *testing.B) {
	d, err := Declare("(?P<ask>[ab]{20}"+strings.Repeat("(?:.*a)", 15)+"$)", 256)
	if err != nil {
		b.Fatal(err)
	}
	prompt := strings.Repeat("ab", mostNarrowed/2)
	for b.Loop() {
		d.Within(Cut{To: len(prompt)}, prompt)
	}
}
