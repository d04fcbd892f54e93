package attacks_test

import (
	"fmt"
	"strings"
	"testing"

	"reprise/internal/built"
)

// TestAliasesTakeOfTheCapacity asks one question in many forms: each form is kept as an alias, and counted. It is line 12 of the list
// in SECURITY.md.
func TestAliasesTakeOfTheCapacity(t *testing.T) {
	t.Parallel()
	p := start(t, upstream(t, echo()), built.Granted(t))
	p.ask("What is the capital of France?")
	before := p.gauge("reprise_bytes")
	for _, q := range []string{
		"what is the capital of france?", "What's the capital of France?", "What is the capital of France? Thanks!", "Hello, what is the capital of France?",
		"Please tell me what the capital of France is.",
	} {
		p.ask(q)
	}
	aliases := p.gauge("reprise_aliases")
	if aliases == 0 || p.gauge("reprise_entries") != 1 {
		t.Fatalf("%v aliases of %v entries, want some of one", aliases, p.gauge("reprise_entries"))
	}
	each := (p.gauge("reprise_bytes") - before) / aliases
	t.Logf("measured: %.0f bytes are charged for each of %v aliases", each, aliases)
	if each < 100 {
		t.Errorf("%.0f bytes are charged for an alias, it takes some 150", each)
	}
}

// TestLabelsTakeOfTheCapacity stores answers under long namespaces, each another one. It is line 12 of the list in SECURITY.md.
func TestLabelsTakeOfTheCapacity(t *testing.T) {
	t.Parallel()
	p := start(t, upstream(t, echo()))
	charged := func(namespace string) float64 {
		before := p.gauge("reprise_bytes")
		if r := p.ask("a question of one length", "X-Reprise-Namespace", namespace); r.Cache() != "miss" {
			t.Fatalf("namespace %s: %s", namespace, r.Cache())
		}
		return p.gauge("reprise_bytes") - before
	}
	short, long := charged("a"), charged(strings.Repeat("b", 101))
	t.Logf("measured: %s", fmt.Sprintf("%.0f bytes are charged for a namespace of 1, %.0f for one of 101", short, long))
	if long-short < 90 || long-short > 130 {
		t.Errorf("100 more bytes of a namespace are charged as %.0f", long-short)
	}
}
