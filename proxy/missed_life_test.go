package proxy

import (
	"strings"
	"testing"
	"time"

	"reprise/proxy/rules"
)

// TestWhyShortLife: where a client or a rule has decided the life of an answer, the reason says so, and no value of the setting is named.
func TestWhyShortLife(t *testing.T) {
	c := newClock()
	r := newRig(t, c.use, func(o *Options) {
		o.TTL = time.Hour
		rule := *o.rules().Rest()
		rule.Name, rule.Mode, rule.Models, rule.TTL = "short", ModeSemantic, []string{"gpt-4o-mini"}, time.Minute
		o.Rules = []*rules.Rule{&rule}
	})
	mini := strings.Replace(chat(capital), "gpt-4o", "gpt-4o-mini", 1)
	r.missed(t, "new", chat(capital), "X-Reprise-Ttl: 1s")
	r.missed(t, "scope;differs=model", mini)
	c.add(2 * time.Minute)
	r.missed(t, "expired:client", chat(capital), "X-Reprise-Ttl: 1s")
	r.missed(t, "expired:rule", mini)
	c.add(2 * time.Minute)
	r.missed(t, "expired:client", chat("what is the capital of france"))
	report := r.countedMisses(t, 5)
	for why, word := range map[string]string{"expired:client": "X-Reprise-TTL", "expired:rule": "ttl of the rule"} {
		if g := group(report, why); g.Get("set").Exists() || !strings.Contains(g.Get("repair").Str, word) || !strings.Contains(g.Get("in_words").Str, "its life") {
			t.Errorf("%s: %s", why, g.Raw)
		}
	}
	c.add(2 * time.Hour)
	r.missed(t, "expired", chat("what is the capital of france"))
}
