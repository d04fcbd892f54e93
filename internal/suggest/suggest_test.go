package suggest

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
