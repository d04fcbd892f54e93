package cli

import "testing"

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

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234"} {
		if got := Thousands(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{512: "0.5 KiB", 3 << 20: "3.0 MiB", 5 << 30: "5.0 GiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}
