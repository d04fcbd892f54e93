package proxy

import (
	"reprise/proxy/upstream"
	"reprise/store"
)

// UpstreamsOf is what sends the requests of a server to the upstreams, for reports and for an operator who drains one.
func UpstreamsOf(s *Server) *upstream.Client { return s.upstream }

// GenerationOf is the number of the names under which upstreams cache for a server, which every purge raises, and whether a restart keeps it.
func GenerationOf(s *Server) (n uint64, durable bool) {
	if s.opts.Remote != nil {
		return s.opts.Purges().Purges, true
	}
	return store.Purges(s.opts.Store)
}

// several reports whether there is more than one upstream, so that an answer says which one it is of.
func several(o *Options) bool { return len(o.Upstreams) > 1 }
