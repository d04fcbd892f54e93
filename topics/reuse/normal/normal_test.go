package normal

import (
	"strings"
	"testing"
	"time"
)

// state is a form as text: its tokens with a dot between, quoted ones between apostrophes.
func state(f *Form) string {
	if f.Fixed != "" {
		return "fixed: " + f.Fixed
	}
	var all []string
	for _, t := range f.Tokens {
		if t.Quoted {
			t.Text = "'" + t.Text + "'"
		}
		all = append(all, t.Text)
	}
	if f.Data {
		return "data: " + strings.Join(all, "·")
	}
	return strings.Join(all, "·")
}

func TestForm(t *testing.T) {
	for _, c := range []struct{ prompt, want string }{
		{"How do I reset my password?", "HOW·reset·my·password"},
		{"  Hello,  what's the wifi password for guests?? Thanks!", "what·is·the·wifi·password·for·guests"},
		{"Ask about Polish sausages", "ask·about·Polish·sausages"},
		{"a\u200bb", "fixed: characters"},
		{"Who won?\nAnd why?", "who·won·.·\n·and·why"},
		{"say \"hi", "fixed: quotes"},
		{"", "fixed: no words"},
	} {
		if got := state(Of(c.prompt)); got != c.want {
			t.Errorf("Of(%q) = %q, want %q", c.prompt, got, c.want)
		}
	}
}

// FuzzOf holds forms to what their users rely on: equal forms have equal bytes, ranges are in order and inside the prompt, and a prompt with a
// character that is not of a text in Latin letters equals nothing but itself.
func FuzzOf(f *testing.F) {
	for _, s := range []string{"", " ", "How do I?", "Hi, it's \"x y\" thanks please", "a’b", "```x``` y", "5pm 10,000 KL1023", "MiXed PayPal US",
		"can you tell me why my X's not Y? thanks", "don't know who it is, do you know?", "hello\n\nwhat does X mean:\n- a\n\nbye", "\u202ea b", "次の 文"} {
		f.Add(s, s)
		f.Add(s, strings.ToUpper(s)+"?")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := Of(a), Of(b)
		if equal := x.Equal(y); equal != y.Equal(x) || equal && string(x.Append(nil)) != string(y.Append(nil)) || !x.Equal(x) {
			t.Errorf("Append and Equal disagree on %q and %q", a, b)
		}
		at := 0
		for _, tok := range x.Tokens {
			if tok.From < at || tok.To < tok.From || tok.To > len(a) {
				t.Fatalf("%q: token %+v is not behind byte %d", a, tok, at)
			}
			if tok.Text == "" || strings.IndexByte(tok.Text, 0) >= 0 {
				t.Fatalf("%q: token %+v has no text", a, tok)
			}
			at = tok.To
		}
		foreign := func(r rune) bool { return r > 0x24f && !strings.ContainsRune("‘’“”–—…€", r) }
		if strings.ContainsFunc(a, foreign) && (x.Fixed == "" || a != b && x.Equal(y)) {
			t.Errorf("%q is compared by tokens", a)
		}
		if again := Of(a); !again.Equal(x) {
			t.Errorf("%q has two forms", a)
		}
	})
}

// TestBadInput has prompts that are no questions: there is a form of each, in time that is linear.
func TestBadInput(t *testing.T) {
	for _, c := range []struct{ prompt, fixed string }{
		{"", "no words"},
		{" \n\r\n ", "no words"},
		{"?!...", "no words"},
		{strings.Repeat("a", 8<<10), ""},
		{strings.Repeat("please ", 1<<10), ""},
		{strings.Repeat("thanks, ", 1<<10), ""},
		{strings.Repeat("why is not ", 1<<10), ""},
		{strings.Repeat("can you tell me what ", 1<<9), ""},
		{strings.Repeat("\"", 1<<10), "no words"},
		{strings.Repeat("'a", 1<<12), ""},
		{strings.Repeat("(", 8<<10), "no words"},
		{strings.Repeat("a ", 20<<10), "length"},
		{"who is аdmin", "characters"},
		{"who is\u200b it", "characters"},
		{"who is \u202eit", "characters"},
		{"who \xff is", "characters"},
		{"who\x00 is", "characters"},
		{"say \"it", "quotes"},
		{"run ```ls", "fence"},
		{"a\tb", "table"},
	} {
		if f := Of(c.prompt); f.Fixed != c.fixed {
			t.Errorf("Of(%.20q) is fixed by %q, want %q", c.prompt, f.Fixed, c.fixed)
		}
	}
}

// TestJoinedClosings fails by its time if closings that "and" joins are looked at once for every way to join them.
func TestJoinedClosings(t *testing.T) {
	for _, phrase := range []string{"thanks", "please and thank you"} {
		long := "What is the time in Rome? " + strings.Repeat(phrase+" and ", 24) + phrase
		start := time.Now()
		Of(long)
		if d := time.Since(start); d > time.Second {
			t.Errorf("%d times %q took %v", 25, phrase, d)
		}
	}
}
