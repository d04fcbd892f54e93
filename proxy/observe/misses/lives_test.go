package misses

import (
	"testing"
	"time"

	"reprise/proxy/observe"
)

// TestShortLives: what has decided the life of an answer is remembered after the answer has left, and until it is kept again.
func TestShortLives(t *testing.T) {
	w := watch(0)
	a := ask{tenant: "t", prompt: "p"}
	late := &Facts{Now: now.Add(2 * time.Hour)}
	for _, c := range []struct{ short, want string }{{ByClient, "why=expired:client"}, {"", "why=expired"}, {ByRule, "why=expired:rule"}} {
		r := a.request()
		r.Short = c.short
		w.kept(observe.Stamp{}, r, 1, now.Add(time.Hour))
		if got := w.Why(a.request(), late, func(uint64) Life { return Gone }).Status(); got != c.want {
			t.Errorf("%s, not %s", got, c.want)
		}
	}
}
