package proxy

import (
	"errors"
	"slices"
	"strings"

	"reprise/proxy/gate"
	"reprise/proxy/internal/clientio"
	"reprise/proxy/rules"
	"reprise/proxy/upstream"
)

// live are the options that Reload replaces; all of them change together.
type live struct {
	gate       *gate.Gate
	adminToken string
	maxBody    int64
	clients    clientio.Limits
	maxError   float64 // among hits by meaning
	rules      *rules.Set
}

func (o Options) live() *live {
	families := o.APIs.Families()
	paths := make([]string, 0, len(families))
	for _, f := range families {
		paths = append(paths, f.Path)
	}
	access := o.Access // what the operator names is known
	access.Headers = slices.Concat(access.Headers, o.IgnoreHeaders)
	if name, ok := strings.CutPrefix(string(o.TenantFrom), "header:"); ok {
		access.Headers = append(access.Headers, name)
	}
	all := &rules.Rule{Mode: o.Mode, MaxErrorRate: max(o.MaxErrorRate, 0), TTL: o.TTL, ToolCalls: o.CacheToolCalls, Ignore: o.Ignore}
	return &live{rules: rules.NewSet(all, o.Rules...), adminToken: o.AdminToken, maxError: max(o.MaxErrorRate, 0), maxBody: o.MaxBody, clients: o.Limits.clients(), gate: gate.New(gate.Options{
		Access: access, Keyed: o.keyed(),
		Shared: o.TenantFrom != "authorization", Credentials: upstream.KeyHeaders, Families: paths})}
}

// Reload puts some options of o in force, for requests that come from now on: UpstreamKey and the keys of Upstreams, AdminToken, Access, MaxBody, Concurrency, MaxErrorRate, JudgeModel, JudgeBudget, and
// of Limits those on clients. The others stay as New got them. An UpstreamKey can be replaced, but not added or removed: a request that
// was let in without one must not go out under it.
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
	n.MaxErrorRate, n.JudgeModel, n.JudgeBudget = o.MaxErrorRate, o.JudgeModel, o.JudgeBudget
	n.Limits.BodyIdle, n.Limits.BodyRate, n.Limits.ClientWrite = o.Limits.BodyIdle, o.Limits.BodyRate, o.Limits.ClientWrite
	if err := n.Validate(); err != nil {
		return err
	}
	n = n.withDefaults()
	s.upstream.SetKeys(n.UpstreamKey, n.Upstreams)
	s.upstream.SetConcurrency(n.Concurrency)
	s.upstream.SetForwarded(n.Access.Headers)
	s.live.Store(n.live())
	s.learner.SetModel(n.JudgeModel, n.JudgeBudget)
	return nil
}
