package config

import (
	"fmt"
	"slices"

	"reprise/proxy"
)

// Reloaded returns c with those settings of next that can change while the program runs. changed are their names, and restart the
// names of the others that differ, which stay as they are. The error wraps ErrBad; what can change may not fit what stays.
func (c *Config) Reloaded(next *Config) (merged *Config, changed, restart []string, err error) {
	m := *c
	m.effective = slices.Clone(c.effective)
	// A request that was let in while there was no such key must not go out under it: it can be replaced, but not added or removed.
	sameKind := (c.UpstreamKey == "") == (next.UpstreamKey == "")
	if sameKind {
		m.UpstreamKey = next.UpstreamKey
	}
	// The keys of upstreams come from files that may have changed while the list is the same.
	sameList := c.value("UPSTREAM").given == next.value("UPSTREAM").given
	keys := sameList && !slices.EqualFunc(c.Upstreams, next.Upstreams, func(a, b Upstream) bool { return a.Key == b.Key })
	if keys {
		m.Upstreams = next.Upstreams
		changed = append(changed, Prefix+"UPSTREAM (keys)")
	}
	m.ClientKeys, m.APIPaths, m.TrustedHosts, m.AdminToken = next.ClientKeys, next.APIPaths, next.TrustedHosts, next.AdminToken
	m.LogLevel, m.Drain, m.ClientTimeout, m.MaxConcurrent = next.LogLevel, next.Drain, next.ClientTimeout, next.MaxConcurrent
	m.MaxErrorRate, m.JudgeModel = next.MaxErrorRate, next.JudgeModel
	m.Rules, m.TTL, m.compared = next.Rules, next.TTL, c.compared || c.Compares()
	m.File, m.Overruled = next.File, next.Overruled
	m.IgnoreFields, m.IgnorePatterns = next.IgnoreFields, next.IgnorePatterns
	keepMode := !m.compared && proxy.Mode(next.Mode).Compares() // no vectors were kept so far
	if !keepMode {
		m.Mode = next.Mode
	}
	if !sameRules(c.Rules, next.Rules) {
		changed = append(changed, Prefix+"CONFIG (rules)")
	}
	if m.Prices = next.Prices; c.value("PRICES").given == next.value("PRICES").given && !c.Prices.Equal(next.Prices) {
		changed = append(changed, Prefix+"PRICES (content)")
	}
	can := reloadable()
	for i, v := range next.effective {
		switch {
		case v.given == c.effective[i].given:
		case slices.Contains(can, v.Name) && (sameKind || v.Name != Prefix+"UPSTREAM_KEY") && (!keepMode || v.Name != Prefix+"MODE"):
			m.effective[i] = v
			changed = append(changed, v.Name)
		default:
			restart = append(restart, v.Name)
		}
	}
	if problems := slices.Concat(m.contradictions(), m.exposures(), m.newModes()); len(problems) > 0 {
		return nil, nil, nil, &badError{problems}
	}
	return &m, changed, restart, nil
}

// newModes are modes of rules that only a restart puts in force.
func (c *Config) newModes() (problems []string) {
	for i := range c.Rules {
		if r := &c.Rules[i]; !c.compared && proxy.Mode(r.set.Mode).Compares() {
			problems = append(problems, fmt.Sprintf("%s needs a restart: nothing has been compared by meaning so far, and no vectors were kept", r.at("mode")))
		}
	}
	return problems
}

// reloadable lists the settings, as in the environment, that Reloaded takes over.
func reloadable() (names []string) {
	for _, g := range (&Config{}).table() {
		for _, s := range g.rows {
			if s.Reload {
				names = append(names, s.Env())
			}
		}
	}
	return names
}
