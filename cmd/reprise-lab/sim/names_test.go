package sim

import (
	"slices"
	"strings"
	"testing"
)

func TestParsePolicies(t *testing.T) {
	var all []string // but those for KV blocks
	for _, name := range PolicyNames() {
		if !slices.Contains([]string{"wa", "wa+", "lpc", "lpc-wa", "gdfs"}, name) {
			all = append(all, name)
		}
	}
	for _, c := range []struct {
		text string
		want []string
	}{
		{"all", all},
		{"wa", []string{"wa"}},
		{"lru", []string{"lru"}},
		{" lru , belady,infinite,lru", []string{"lru", "belady", "infinite"}},
		{"rac:alpha=1/C,lambda=2,lru,rac:lambda=0", []string{"rac:alpha=1/C,lambda=2", "lru", "rac:lambda=0"}},
		{"rac:lambda=2,all", append([]string{"rac:lambda=2"}, all...)},
	} {
		if got, err := ParsePolicies(c.text); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, %v; want %q", c.text, got, err, c.want)
		}
	}
	for text, want := range map[string]string{
		"":               `unknown policy ""`,
		"lru,":           `unknown policy ""`,
		"lur":            "want one of fifo, lru,",
		"alpha=1,rac":    `unknown policy "alpha=1"`,
		"lru,alpha=1":    `unknown policy "lru,alpha=1"`,
		"rac:alpha=1,x":  `unknown policy "x"`,
		"rac:gamma=1":    `no parameter "gamma"`,
		"infinite:x=1":   "infinite has no parameters",
		"belady:":        "belady has no parameters",
		"rac:lambda=1,l": `unknown policy "l"`,
	} {
		if got, err := ParsePolicies(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

func FuzzParsePolicies(f *testing.F) {
	for _, s := range []string{"all", "lru,sieve", "rac:alpha=1/C,lambda=2,lru", "a:=,=,"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		names, err := ParsePolicies(s)
		if err != nil {
			return
		}
		again, err := ParsePolicies(strings.Join(names, ","))
		if err != nil || !slices.Equal(again, names) {
			t.Errorf("%q is %q, read again %q, %v", s, names, again, err)
		}
	})
}
