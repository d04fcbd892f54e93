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
	sameList := givenAs(c, "UPSTREAM") == givenAs(next, "UPSTREAM")
	keys := sameList && !slices.EqualFunc(c.Upstreams, next.Upstreams, func(a, b Upstream) bool { return a.Key == b.Key })
	if keys {
		m.Upstreams = next.Upstreams
		changed = append(changed, Prefix+"UPSTREAM (keys)")
	}
	m.ClientKeys, m.APIPaths, m.ForwardHeaders, m.TrustedHosts, m.AdminToken = next.ClientKeys, next.APIPaths, next.ForwardHeaders, next.TrustedHosts, next.AdminToken
	m.LogLevel, m.Drain = next.LogLevel, next.Drain
	m.MaxBody, m.BodyIdle, m.BodyRate, m.ClientWrite = next.MaxBody, next.BodyIdle, next.BodyRate, next.ClientWrite
	m.MaxConcurrent, m.MaxPerTenant = next.MaxConcurrent, next.MaxPerTenant
	m.MaxErrorRate, m.JudgeModel, m.JudgeBudget = next.MaxErrorRate, next.JudgeModel, next.JudgeBudget
	m.Rules, m.TTL, m.CacheToolCalls, m.compared = next.Rules, next.TTL, next.CacheToolCalls, c.compared || Compares(c)
	m.File, m.Overruled = next.File, next.Overruled
	m.IgnoreFields, m.IgnorePatterns = next.IgnoreFields, next.IgnorePatterns
	keepMode := !m.compared && proxy.Mode(next.Mode).Compares() // no vectors were kept so far
	if !keepMode {
		m.Mode = next.Mode
	}
	if !sameRules(c.Rules, next.Rules) {
		changed = append(changed, Prefix+"CONFIG (rules)")
	}
	if m.Prices = next.Prices; givenAs(c, "PRICES") == givenAs(next, "PRICES") && !c.Prices.Equal(next.Prices) {
		changed = append(changed, Prefix+"PRICES (content)")
	}
	for i, v := range next.effective {
		switch {
		case v.given == c.effective[i].given:
		case slices.Contains(reloadable, v.Name[len(Prefix):]) && (sameKind || v.Name != Prefix+"UPSTREAM_KEY") && (!keepMode || v.Name != Prefix+"MODE"):
			m.effective[i] = v
			changed = append(changed, v.Name)
		default:
			restart = append(restart, v.Name)
		}
	}
	if problems := slices.Concat(m.contradictions(), exposures(&m), newModes(&m)); len(problems) > 0 {
		return nil, nil, nil, &badError{problems}
	}
	return &m, changed, restart, nil
}

// newModes are modes of rules that only a restart puts in force.
func newModes(c *Config) (problems []string) {
	for i := range c.Rules {
		if r := &c.Rules[i]; !c.compared && proxy.Mode(r.set.Mode).Compares() {
			problems = append(problems, fmt.Sprintf("%s needs a restart: nothing has been compared by meaning so far, and no vectors were kept", r.at("mode")))
		}
	}
	return problems
}

// reloadable are the settings that Reloaded takes over.
var reloadable = []string{"UPSTREAM_KEY", "CLIENT_KEYS", "API_PATHS", "FORWARD_HEADERS", "TRUSTED_HOSTS", "ADMIN_TOKEN", "LOG_LEVEL", "MAX_BODY", "BODY_IDLE_TIMEOUT",
	"BODY_MIN_RATE", "MAX_CONCURRENT", "MAX_CONCURRENT_PER_TENANT", "CLIENT_WRITE_TIMEOUT", "DRAIN_TIMEOUT", "CONFIG", "MODE", "MAX_ERROR_RATE", "TTL", "CACHE_TOOL_CALLS", "IGNORE_FIELDS", "IGNORE_PATTERN", "JUDGE_MODEL", "JUDGE_BUDGET", "PRICES"}

// Reloadable lists the settings, as in the environment, that Reloaded takes over.
func Reloadable() (names []string) {
	for _, name := range reloadable {
		names = append(names, Prefix+name)
	}
	return names
}
