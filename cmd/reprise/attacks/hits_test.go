package attacks_test

import "testing"

// TestHits shows that the attacks reach a proxy that works.
func TestHits(t *testing.T) {
	t.Parallel()
	p := start(t, upstream(t, echo()))
	for i, want := range []string{"miss", "exact"} {
		if r := p.ask("What is a drain?"); r.status != 200 || r.cache() != want {
			t.Errorf("request %d: status %d, X-Cache %q, want %q: %s", i, r.status, r.cache(), want, r.body)
		}
	}
	if n, ok := p.metric("reprise_entries"); !ok || n != 1 {
		t.Errorf("metric reprise_entries: %v, %v", n, ok)
	}
}
