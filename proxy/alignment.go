package proxy

import (
	"sync"
	"time"

	"reprise/proxy/api"
	"reprise/proxy/internal/budget"
	"reprise/proxy/observe/align"
	"reprise/proxy/upstream/prefix"
)

// alignment watches what requests to the upstream share.
type alignment struct {
	*align.Watch
	segments sync.Pool // of *[]align.Segment
}

// alignedShare is the part of the memory limit that the texts of a report may take.
const alignedShare = 64

func newAlignment(memory int64, now func() time.Time) *alignment {
	a := &alignment{segments: sync.Pool{New: func() any { return new([]align.Segment) }}}
	o := align.Options{Now: now}
	if memory > 0 {
		o.Bytes = int(min(memory/alignedShare, align.DefaultBytes))
	}
	a.Watch = align.NewWatch(o)
	return a
}

// observe compares q, which is about to be sent to the upstream, with earlier requests. An embedding has no prefix that an engine keeps, and
// of a request with no-store nothing is kept.
func (a *alignment) observe(q *query) {
	if q.d.NoStore || q.family.Answers.Streams == nil || len(q.Segments) == 0 {
		return
	}
	buf := a.segments.Get().(*[]align.Segment)
	all := (*buf)[:0]
	for _, s := range q.Segments {
		all = append(all, align.Segment{Kind: prefix.Kind(s.Kind), Text: s.Of(q.body)})
	}
	a.Observe(align.App{Tenant: q.tenant, Model: q.Model, Path: q.family.Path, Namespace: q.d.Namespace}, all)
	clear(all)
	*buf = all
	a.segments.Put(buf)
}

// AlignmentOf is what compares the requests that a server sends to the upstream; it reports where they part although what follows is the
// same again. It is for the admin API and for metrics.
func AlignmentOf(s *Server) *align.Watch { return s.alignment.Watch }

// Forms are the canonical forms of bodies, by the name of their API.
type Forms map[string]*align.Canonicaliser

// apply returns a body in the canonical form of its API, which is charged to mem in the place of the body. What a request is keyed by, and
// what is forwarded, both follow from it.
func (f Forms) apply(family *api.Family, body []byte, mem *budget.Lease) ([]byte, error) {
	c := f[family.Name]
	if c == nil {
		return body, nil
	}
	if size := 2 * int64(len(body)); len(body) > firstBuffer { // the copy, and what is ordered
		if !mem.Grow(size) {
			return nil, errNoMemory
		}
		defer mem.Shrink(size)
	}
	return c.Apply(body), nil
}
