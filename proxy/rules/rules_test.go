package rules

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

const digest = "0123456789abcdef0123456789abcdef"

func TestOf(t *testing.T) {
	set := NewSet(&Rule{Mode: Semantic},
		&Rule{Name: "digest", Match: Match{Tenants: []string{digest}}},
		&Rule{Name: "team", Match: Match{Tenants: []string{"team-*"}, Models: []string{"gpt-*", "o1"}}},
		&Rule{Name: "path", Match: Match{Paths: []string{"/v1/embeddings"}, Namespaces: []string{"", "a"}}},
		&Rule{Name: "model", Match: Match{Models: []string{"*llama*"}}},
		&Rule{Name: "named", Match: Match{Tenants: []string{"*"}, Namespaces: []string{"only*"}}})
	for want, requests := range map[string][]Request{
		"digest": {{Tenant: digest, Model: "gpt-4o", Team: "team-a"}},
		"team":   {{Tenant: "x", Model: "gpt-4o", Team: "team-a"}, {Model: "o1", Team: "team-"}},
		"path":   {{Path: "/v1/embeddings"}, {Path: "/v1/embeddings", Namespace: "a", Model: "llama"}},
		"model":  {{Model: "meta-llama/Llama-3", Team: "team-a"}, {Model: "llama", Path: "/v1/embeddings", Namespace: "b"}},
		"named":  {{Tenant: "all", Namespace: "only"}, {Tenant: "x", Team: "y", Namespace: "only this"}},
		"": {{}, {Team: digest}, {Model: "o1", Team: "team"}, {Model: "o1-mini", Team: "team-a"}, {Model: "gpt-4o", Tenant: "team-a"}, {Model: "Llama"},
			{Path: "/v1/embeddings/", Model: "x"}, {Namespace: "not only"}},
	} {
		for _, r := range requests {
			if got := set.Of(r); got.Name != want {
				t.Errorf("%+v: rule %q, want %q", r, got.Name, want)
			}
			if rule, passed := set.Why(r); rule.Name != want || len(passed) > 0 && passed[0] != (Passed{"digest", "tenant"}) {
				t.Errorf("%+v: %q after %v", r, rule.Name, passed)
			}
		}
	}
	if _, passed := set.Why(Request{Model: "o1", Team: "team-a", Tenant: "x"}); fmt.Sprint(passed) != "[{digest tenant}]" {
		t.Error(passed)
	}
}

// TestOff: a request passes through unread where tenant and path decide that, or where nothing that the body says could put the cache in force.
func TestOff(t *testing.T) {
	rule := func(mode Mode, m Match) *Rule { return &Rule{Name: "r", Mode: mode, Match: m} }
	byModel, byPath := Match{Models: []string{"m"}}, Match{Paths: []string{"/p"}}
	on, off := &Rule{Mode: Exact}, &Rule{Mode: Off}
	for i, c := range []struct {
		set  *Set
		path string
		want bool
	}{
		{NewSet(on), "/p", false},
		{NewSet(off), "/p", true},
		{NewSet(off, rule(Exact, byModel)), "/p", false},
		{NewSet(off, rule(Exact, Match{Namespaces: []string{"n"}})), "/p", false},
		{NewSet(off, rule(Off, byModel)), "/p", true},
		{NewSet(off, rule(Exact, byPath)), "/p", false},
		{NewSet(off, rule(Exact, byPath)), "/q", true},
		{NewSet(on, rule(Off, byPath)), "/p", true},
		{NewSet(on, rule(Off, byPath)), "/q", false},
		{NewSet(on, rule(Off, byModel)), "/p", false},
		{NewSet(on, rule(Off, byModel), rule(Off, byPath)), "/p", true},
		{NewSet(on, rule(Exact, byModel), rule(Off, byPath)), "/p", false},
		{NewSet(on, rule(Exact, Match{Models: []string{"m"}, Paths: []string{"/q"}}), rule(Off, byPath)), "/p", true},
	} {
		if got := c.set.Off(func() Request { return Request{Path: c.path} }); got != c.want {
			t.Errorf("case %d: %v", i, got)
		}
	}
	NewSet(on).Off(func() Request { t.Error("asked who sends a request although no rule is off"); return Request{} })
}

// TestGlob compares with regular expressions, and a pattern that covers another one with texts that this fits.
func TestGlob(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func(letters string) string {
		b := make([]byte, r.IntN(6))
		for i := range b {
			b[i] = letters[r.IntN(len(letters))]
		}
		return string(b)
	}
	for range 20_000 {
		p, q, s := word("ab**"), word("ab*"), word("ab/")
		model := regexp.MustCompile(`^` + strings.ReplaceAll(p, "*", ".*") + `$`)
		if got := Glob(p, s); got != model.MatchString(s) {
			t.Fatalf("Glob(%q, %q) = %v", p, s, got)
		}
		if Glob(p, q) {
			if s := strings.ReplaceAll(q, "*", word("ab/")); !Glob(p, s) {
				t.Fatalf("%q covers %q, and does not fit %q", p, q, s)
			}
		}
	}
}

func TestCovers(t *testing.T) {
	m := func(models ...string) Match { return Match{Models: models} }
	for i, c := range []struct {
		wide, narrow Match
		want         bool
	}{
		{m("gpt-*"), m("gpt-4o", "gpt-4*"), true},
		{m("gpt-*"), m("gpt-4o", "o1"), false},
		{m("gpt-4o"), m("gpt-*"), false},
		{m(), m("x"), true},
		{m("x"), m(), false},
		{m("*"), m("x"), true},
		{m("x"), Match{Models: []string{"x"}, Paths: []string{"/p"}}, true},
		{Match{Models: []string{"x"}, Paths: []string{"/p"}}, m("x"), false},
		{Match{Tenants: []string{"0*"}}, Match{Tenants: []string{digest}}, false},
		{Match{Tenants: []string{"*"}}, Match{Tenants: []string{digest}}, true},
	} {
		if got := c.wide.Covers(&c.narrow); got != c.want {
			t.Errorf("case %d: %v", i, got)
		}
	}
}
