package normal

import (
	"fmt"
	"strings"
	"testing"
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

func FuzzOf(f *testing.F) {
	for _, s := range []string{"", " ", "How do I?", "Hi, it's \"x y\" thanks please", "a’b", "```x``` y", "5pm 10,000 KL1023", "MiXed PayPal US"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := Of(a), Of(b)
		if same := string(x.Append(nil)) == string(y.Append(nil)); same != x.Equal(y) || same != y.Equal(x) || !x.Equal(x) {
			t.Errorf("Append and Equal disagree on %q and %q", a, b)
		}
		at := 0
		for _, tok := range x.Tokens {
			if tok.From < at || tok.To < tok.From || tok.To > len(a) {
				t.Fatal(fmt.Sprintf("%q: token %+v is not behind byte %d", a, tok, at))
			}
			at = tok.To
		}
	})
}
