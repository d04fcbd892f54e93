package frames

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"reprise/internal/layouts"
)

var (
	templates = layouts.All
	fill      = layouts.Fill
)

// texts are of free text that no two prompts share.
type texts struct{ *rand.Rand }

func (w texts) sentence(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.Repeat(string(rune('a'+w.Intn(26))), 1+w.Intn(3)) + fmt.Sprint(w.Intn(500))
	}
	return strings.Join(all, " ")
}

func (w texts) ask() string { return w.sentence(4+w.Intn(8)) + "?" }

func (w texts) doc() string {
	all := make([]string, 1+w.Intn(20))
	for i := range all {
		all[i] = w.sentence(5+w.Intn(15)) + "."
	}
	return strings.Join(all, " ")
}

// TestFramesAreFound plays ten templates and free prompts through one learner.
func TestFramesAreFound(t *testing.T) {
	w := texts{rand.New(rand.NewSource(1))}
	var l Learner
	seen := make([]int, len(templates))
	of := map[[32]byte]int{}
	right, wrong := 0, 0
	for range 14_000 {
		if w.Intn(10) < 3 {
			if f, _ := l.Observe(Read(w.ask())); f != nil {
				t.Fatalf("a free prompt has the frame %q", f.Constants())
			}
			continue
		}
		k := w.Intn(len(templates))
		doc, ask := w.doc(), w.ask()
		prompt := fill(templates[k], doc, ask)
		f, _ := l.Observe(Read(prompt))
		if seen[k]++; f == nil {
			if seen[k] > 50 {
				wrong++
			}
			continue
		}
		cut, _ := f.Cut(Read(prompt))
		if other, known := of[cut.ID]; known && other != k {
			t.Fatalf("templates %d and %d have the frame %q", other, k, f.Constants())
		}
		of[cut.ID] = k
		if seen[k] > 50 {
			right++
		}
		if asks := prompt[cut.From:cut.To]; cut.Named && asks != ask {
			t.Fatalf("template %d asks %q, want %q", k, asks, ask)
		}
	}
	if wrong*100 > right {
		t.Errorf("%d prompts without their frame, %d with it", wrong, right)
	}
}

// TestAsksAre names what of each template asks once its frame is known.
func TestAsksAre(t *testing.T) {
	for k, want := range []string{"ask named", "ask named", "ask named", "doc", "doc", "ask", "ask", "ask named", "ask named", "ask named"} {
		w := texts{rand.New(rand.NewSource(int64(k)))}
		var l Learner
		for range 40 {
			l.Observe(Read(fill(templates[k], w.doc(), w.ask())))
		}
		doc, ask := w.doc(), w.ask()
		prompt := fill(templates[k], doc, ask)
		f, cut := cutOf(&l, prompt)
		if f == nil {
			t.Errorf("template %d has no frame", k)
			continue
		}
		got := map[string]string{doc: "doc", ask: "ask", "": "nothing"}[prompt[cut.From:cut.To]]
		if cut.Named {
			got += " named"
		}
		if got != want {
			t.Errorf("of template %d, %s asks (%q), want %s", k, got, prompt[cut.From:cut.To], want)
		}
	}
}

// cutOf is the cut of a prompt by the frames in force.
func cutOf(l *Learner, prompt string) (f *Frame, c Cut) {
	p := Read(prompt)
	if f = l.Find(p); f != nil {
		c, _ = f.Cut(p)
	}
	return f, c
}

func learned(t *testing.T, template string) *Learner {
	t.Helper()
	w := texts{rand.New(rand.NewSource(3))}
	l := new(Learner)
	for range 40 {
		l.Observe(Read(fill(template, w.doc(), w.ask())))
	}
	if len(l.Frames()) != 1 {
		t.Fatalf("%d frames, want 1", len(l.Frames()))
	}
	return l
}

// TestRestIsEqualOrNot: what does not ask is in the digest of the rest, and what asks is not.
func TestRestIsEqualOrNot(t *testing.T) {
	l := learned(t, templates[0])
	cut := func(doc, ask string) Cut {
		_, c := cutOf(l, fill(templates[0], doc, ask))
		return c
	}
	base := cut("A document about tides.", "when is high tide?")
	if base.ID == ([32]byte{}) {
		t.Fatal("no frame")
	}
	if other := cut("A document about tides.", "when is the high tide?"); other.ID != base.ID || other.Rest != base.Rest {
		t.Error("another question changes the rest")
	}
	for _, doc := range []string{"A document about tides!", "A  document about tides.", "A document about tides.\n\nAnd more.", "a document about tides."} {
		if other := cut(doc, "when is high tide?"); other.ID == base.ID && other.Rest == base.Rest {
			t.Errorf("the document %q is the same as another one", doc)
		}
	}
}

// TestImitation: a slot that looks like the frame or its label is not cut by it.
func TestImitation(t *testing.T) {
	l := learned(t, templates[0])
	for _, doc := range []string{"Notes.\n\nQuestion: what is the code?\n", "Question: x\nAnswer:", "Notes.\nAnswer:\nMore notes."} {
		if f, cut := cutOf(l, fill(templates[0], doc, "when is high tide?")); f != nil {
			t.Errorf("behind %q, %q asks", doc, fill(templates[0], doc, "when is high tide?")[cut.From:cut.To])
		}
	}
	for _, ask := range []string{"when?\nQuestion: who?", "when?\nAnswer: now", "Answer:"} {
		prompt := fill(templates[0], "Notes.", ask)
		if f, cut := cutOf(l, prompt); f != nil && prompt[cut.From:cut.To] != ask {
			t.Errorf("of %q, %q asks", ask, prompt[cut.From:cut.To])
		}
	}
}

// TestSwappedSlots: two slots in each other's place are another prompt.
func TestSwappedSlots(t *testing.T) {
	const template = "Compare the two texts and say which is newer.\nFirst: {doc}\nSecond: {ask}\nReply with one word."
	l := learned(t, template)
	f, a := cutOf(l, fill(template, "the old one", "the new one"))
	_, b := cutOf(l, fill(template, "the new one", "the old one"))
	if f == nil || a.From != a.To || a.Rest == b.Rest {
		t.Errorf("swapped slots are equal, or one of them asks: %+v", a)
	}
}

// TestBurst: a frame that has been in force stays while others come and go.
func TestBurst(t *testing.T) {
	w := texts{rand.New(rand.NewSource(5))}
	l := learned(t, templates[5])
	for range 200 {
		l.Observe(Read(fill(templates[5], "", w.ask())))
	}
	for i := range 100 {
		other := fmt.Sprintf("Template number %d that nobody needs, with an order of its own.\n\n{ask}", i)
		for range 12 {
			l.Observe(Read(fill(other, "", w.ask())))
		}
	}
	if f, _ := cutOf(l, fill(templates[5], "", w.ask())); f == nil {
		t.Error("the frame is lost by a burst of others")
	}
	if n := len(l.Frames()); n > Most {
		t.Errorf("%d frames", n)
	}
}

// TestForgotten: a frame that is not seen any more ends.
func TestForgotten(t *testing.T) {
	w := texts{rand.New(rand.NewSource(6))}
	l := learned(t, templates[5])
	for range 2*forgetAfter + 2*recentPrompts {
		l.Observe(Read(w.ask()))
	}
	if n := len(l.Frames()); n != 0 {
		t.Errorf("%d frames are kept of prompts that nobody sends", n)
	}
}

// TestFront: without a frame, what asks is behind the label of the last line.
func TestFront(t *testing.T) {
	for prompt, want := range map[string]string{
		"How tall is it?":                        "How tall is it?",
		"Question: how tall is it?":              "Question: how tall is it?",
		"Some notes.\nQuestion: how tall is it?": "how tall is it?",
		"Some notes.\n**Question:** how?\n":      "how?\n",
		"Some notes.\nQuestion:":                 "Some notes.\nQuestion:",
		"Some notes.\nAnswer: yes":               "Some notes.\nAnswer: yes",
		"":                                       "",
	} {
		if got := prompt[Front(prompt):]; got != want {
			t.Errorf("of %q, %q asks, want %q", prompt, got, want)
		}
	}
}

// TestSegments cuts text where templates put their slots.
func TestSegments(t *testing.T) {
	for text, want := range map[string][]string{
		"One. Two? Three":             {"One.", "Two?", "Three"},
		"Question: why?\n\n  Answer:": {"Question:", "why?", "Answer:"},
		"<doc id=1>text</doc>":        {"<doc id=1>", "text", "</doc>"},
		"```go\nx := 1\n```":          {"```go", "x := 1", "```"},
		`Say: "hello there"`:          {"Say:", `"`, "hello there", `"`},
		`{"a": "b c", "d":"e"}`:       {`{"a":`, `"`, "b c", `",`, `"d":`, `"`, "e", `"}`},
		"at 3.5 km, e.g.x\ty":         {"at 3.5 km, e.g.x\ty"},
		"a < b and b > c":             {"a < b and b > c"},
		"\"\"\"\nall of it\n\"\"\"":   {`"""`, "all of it", `"""`},
		"\r\n \n":                     nil,
	} {
		var got []string
		each(text, func(s segment) bool {
			got = append(got, text[s.from:s.to])
			return true
		})
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzCut: whatever prompts are learnt, a cut has its parts in the prompt, and another ask in its place leaves the rest as it is.
func FuzzCut(f *testing.F) {
	for _, template := range templates {
		f.Add(template, "a document. It is short", "why is it so?")
	}
	f.Fuzz(func(t *testing.T, template, doc, ask string) {
		var l Learner
		for i := range 20 {
			l.Observe(Read(fill(template, fmt.Sprint(doc, i, "."), fmt.Sprint(ask, i, "?"))))
		}
		prompt := fill(template, doc, ask)
		frame, c := cutOf(&l, prompt)
		if frame == nil {
			return
		}
		if c.From < 0 || c.From > c.To || c.To > len(prompt) {
			t.Fatalf("%d to %d of %q ask", c.From, c.To, prompt)
		}
		if again, ok := frame.Cut(Read(prompt)); !ok || again != c {
			t.Fatalf("%q is cut in two ways: %+v, %+v", prompt, c, again)
		}
		if c.From == c.To {
			return
		}
		other := prompt[:c.From] + "another ask" + prompt[c.To:]
		if o, ok := frame.Cut(Read(other)); ok && (o.ID != c.ID || o.From != c.From || o.Rest != c.Rest) {
			t.Fatalf("another ask in %q changes more than that: %q", prompt, other)
		}
	})
}

func BenchmarkObserve(b *testing.B) {
	for _, n := range []int{60, 8000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := texts{rand.New(rand.NewSource(1))}
			prompts := make([]string, 400)
			for i := range prompts {
				var doc []string
				for len(doc) < (n-35)/15 {
					doc = append(doc, w.sentence(15)+".")
				}
				prompts[i] = fill(templates[0], strings.Join(doc, " "), w.ask())
			}
			observeAll(b, prompts)
		})
	}
	b.Run("hostile", func(b *testing.B) { // sentences that many prompts have, in no order
		w := texts{rand.New(rand.NewSource(1))}
		pool, prompts := make([]string, 60), make([]string, 2000)
		for i := range pool {
			pool[i] = w.sentence(10) + "."
		}
		for i := range prompts {
			var all []string
			for range 22 {
				all = append(all, pool[w.Intn(len(pool))])
			}
			prompts[i] = strings.Join(append(all, w.ask()), " ")
		}
		observeAll(b, prompts)
	})
}

func observeAll(b *testing.B, prompts []string) {
	var l Learner
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		l.Observe(Read(prompts[i%len(prompts)]))
	}
}
