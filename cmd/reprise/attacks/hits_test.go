package attacks_test

import "testing"

// TestHits shows that the attacks reach a proxy that works.
func TestHits(t *testing.T) {
	t.Parallel()
	p := start(t, upstream(t, echo()))
	for i, want := range []string{"miss", "exact"} {
		if r := p.ask("What is a drain?"); r.Status != 200 || r.Cache() != want {
			t.Errorf("request %d: status %d, X-Cache %q, want %q: %s", i, r.Status, r.Cache(), want, r.Body)
		}
	}
	if n, ok := p.Metric("reprise_entries"); !ok || n != 1 {
		t.Errorf("metric reprise_entries: %v, %v", n, ok)
	}
}
