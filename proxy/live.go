package proxy

import (
	"reprise/proxy/gate"
	"reprise/proxy/upstream"
)

// live are the options that Reload replaces; all of them change together.
type live struct {
	gate       *gate.Gate
	adminToken string
}

func (o Options) live() *live {
	families := o.APIs.Families()
	paths := make([]string, 0, len(families))
	for _, f := range families {
		paths = append(paths, f.Path)
	}
	return &live{adminToken: o.AdminToken, gate: gate.New(gate.Options{Access: o.Access, Keyed: o.UpstreamKey != "",
		Shared: o.TenantFrom != "authorization", Credentials: upstream.CredentialHeaders, Families: paths})}
}

// Reload puts some options of o in force, for requests that come from now on: UpstreamKey, AdminToken and Access. The others stay as
// New got them.
func (s *Server) Reload(o Options) error {
	n := s.opts
	n.UpstreamKey, n.AdminToken, n.Access = o.UpstreamKey, o.AdminToken, o.Access
	if err := n.Validate(); err != nil {
		return err
	}
	s.upstream.SetKey(n.UpstreamKey)
	s.live.Store(n.live())
	return nil
}
