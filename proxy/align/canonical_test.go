package align

import (
	"regexp"
	"testing"
)

var volatileLines = []*regexp.Regexp{regexp.MustCompile(`^Now: `)}

// TestApply: what each level changes, and what it leaves alone.
func TestApply(t *testing.T) {
	c2, c3 := NewCanonicaliser(C2, nil), NewCanonicaliser(C3, volatileLines)
	for _, c := range []struct {
		name           string
		body, at2, at3 string // "": as before
	}{
		{"parameters", `{"tools":[{"type":"function","function":{"name":"a","parameters":{"type":"object", "properties" : {"y":{"type":"string"},"x":{"type":"number"}},"required":["y","x"]}}}]}`,
			`{"tools":[{"type":"function","function":{"name":"a","parameters":{"properties" : {"x":{"type":"number"},"y":{"type":"string"}}, "required":["x","y"],"type":"object"}}}]}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, l := range []struct {
				c    *Canonicaliser
				want string
			}{{c2, c.at2}, {c3, c.at3}} {
				want := l.want
				if want == "" {
					want = c.at2
				}
				if got := string(l.c.Apply([]byte(c.body))); got != want {
					t.Errorf("%s gives\n%s\nwant\n%s", l.c.Version(), got, want)
				}
			}
		})
	}
}
