package cli

import "testing"

func TestDidYouMean(t *testing.T) {
	known := []string{"serve", "demo", "version", "POLICY", "CAPACITY_ENTRIES", "CAPACITY_BYTES", "--tls-cert"}
	for name, want := range map[string]string{"srve": "; did you mean serve?", "dmeo": "; did you mean demo?", "replay": "", "": "",
		"CAPACITY": "; did you mean CAPACITY_ENTRIES?", "--tls": "; did you mean --tls-cert?", "CAPA": ""} {
		if got := DidYouMean(name, known); got != want {
			t.Errorf("DidYouMean(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestFold(t *testing.T) {
	for _, c := range []struct {
		text          string
		indent, width int
		want          string
	}{
		{"one two  three", 0, 7, "one two\nthree"},
		{"one two three", 4, 9, "one\n    two\n    three"},
		{"äöü äöü", 0, 7, "äöü äöü"},
		{"longer than all", 2, 4, "longer\n  than\n  all"},
		{" ", 3, 9, ""},
	} {
		if got := Fold(c.text, c.indent, c.width); got != c.want {
			t.Errorf("%q: got %q", c.text, got)
		}
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234"} {
		if got := Thousands(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}
