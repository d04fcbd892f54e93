package proxy

import (
	"time"

	"reprise/proxy/api"
	"reprise/proxy/internal/clientio"
	"reprise/proxy/observe/align"
)

// alignedShare is the part of the memory limit that the texts of a report may take.
const alignedShare = 64

func newAlignment(memory int64, now func() time.Time) *align.Watch {
	return align.NewWatch(memory/alignedShare, now)
}

// Alignment is what compares the requests that a server sends to the upstream; it reports where they part although what follows is the
// same again. It is for the admin API and for metrics.
func (s *Server) Alignment() *align.Watch { return s.alignment }

// Forms are the canonical forms of bodies, by the name of their API.
type Forms map[string]*align.Canonicaliser

// apply returns a body in the canonical form of its API, which is charged to mem in the place of the body. What a request is keyed by, and
// what is forwarded, both follow from it.
func (f Forms) apply(family *api.Family, body []byte, mem *clientio.Lease) ([]byte, error) {
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
