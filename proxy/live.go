package proxy

import (
	"errors"
	"slices"
	"strings"
	"time"

	"reprise/proxy/gate"
	"reprise/proxy/rules"
	"reprise/proxy/upstream"
)

// live are the options that Reload replaces; all of them change together.
type live struct {
	gate       *gate.Gate
	adminToken string
	maxBody    int64
	client     time.Duration // the limit of clients
	rules      *rules.Set
}

func (o Options) live() *live {
	families := o.APIs.Families()
	paths := make([]string, 0, len(families))
	for _, f := range families {
		paths = append(paths, f.Path)
	}
	named := slices.Clone(o.IgnoreHeaders)
	if name, ok := strings.CutPrefix(string(o.TenantFrom), "header:"); ok {
		named = append(named, name)
	}
	return &live{rules: o.rules(), adminToken: o.AdminToken, maxBody: o.MaxBody, client: o.Limits.Client, gate: gate.New(gate.Options{
		Access: o.Access, Headers: named, Keyed: o.keyed(),
		Shared: o.TenantFrom != "authorization", Credentials: upstream.KeyHeaders, Families: paths})}
}

// Rule returns the rule in force for a request, and those before it that do not fit.
func (s *Server) Rule(r rules.Request) (*rules.Rule, []rules.Passed) {
	return s.live.Load().rules.Why(r)
}

// Reload puts some options of o in force, for requests that come from now on: UpstreamKey and the keys of Upstreams, AdminToken, Access, MaxBody, Concurrency, JudgeModel, JudgeBudget, Prices, of
// Limits those on clients, and what makes the rules: Mode, MaxErrorRate, TTL, CacheToolCalls, Ignore and Rules. The others stay as New got
// them. An UpstreamKey can be replaced, but not added or removed: a request that was let in without one must not go out under it. Prompts are
// compared by meaning only where some rule of New has asked for it.
func (s *Server) Reload(o Options) error {
	sameKind := slices.EqualFunc(s.opts.Upstreams, o.Upstreams, func(a, b upstream.Target) bool { return (a.Key == "") == (b.Key == "") })
	if !sameKind || (s.opts.UpstreamKey == "") != (o.UpstreamKey == "") {
		return errors.New("an upstream key can be replaced, but not added or removed")
	}
	n := s.opts
	n.Upstreams = slices.Clone(n.Upstreams)
	for i := range n.Upstreams {
		n.Upstreams[i].Key = o.Upstreams[i].Key
	}
	n.UpstreamKey, n.AdminToken, n.Access, n.MaxBody, n.Concurrency = o.UpstreamKey, o.AdminToken, o.Access, o.MaxBody, o.Concurrency
	n.JudgeModel, n.JudgeBudget, n.Prices = o.JudgeModel, o.JudgeBudget, o.Prices
	n.Mode, n.MaxErrorRate, n.TTL, n.CacheToolCalls, n.Ignore, n.Rules = o.Mode, o.MaxErrorRate, o.TTL, o.CacheToolCalls, o.Ignore, o.Rules
	n.Limits.Client = o.Limits.Client
	if err := n.Validate(); err != nil {
		return err
	}
	n = n.withDefaults()
	if !s.opts.rules().Compares() && n.rules().Compares() {
		return errors.New("a mode that compares prompts by meaning needs a restart: so far no rule had one, so that no vectors are kept")
	}
	s.upstream.SetKeys(n.UpstreamKey, n.Upstreams)
	s.upstream.SetConcurrency(n.Concurrency)
	s.live.Store(n.live())
	s.costs.SetTable(n.Prices)
	s.learner.SetModel(n.JudgeModel, n.JudgeBudget)
	return nil
}
