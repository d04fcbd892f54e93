package proxy

import (
	"context"
	"sync"

	"reprise/proxy/tracing"
	"reprise/store"
)

// Leads lets one of several processes at a time ask the upstream for a key. Package shared has the one of a shared store.
type Leads interface {
	// Lead returns when this process is to ask the upstream for key: at once where no other does, and otherwise when the other has ended,
	// or after some seconds. again says that it has waited, so that the answer may be stored by now. The caller calls done, once, when its
	// own answer is kept or will not be. No fault is an error: the caller then asks the upstream, as without the others.
	Lead(ctx context.Context, key store.Key) (again bool, done func())
}

// led is like fetch, where processes share their flights: while another process asks the upstream for the same key, this one waits, and
// looks for the answer then. A request whose flight no other may share takes no part.
func (q *query) led(f *flight, found *finding) (ended bool) {
	if q.s.opts.Leads == nil || q.alone || q.d.private() {
		return q.fetch(f, found)
	}
	waiting := q.span.Child(tracing.Wait)
	again, done := q.s.opts.Leads.Lead(f.Context(), q.req.Key)
	waiting.End()
	q.done = sync.OnceFunc(done)
	handed := false // to the answer that fetch has begun
	defer func() {
		if !handed {
			q.done()
		}
	}()
	if again {
		q.req.Asked = false
		if hit := q.exact(f.Context()); hit != nil {
			f.Publish(&outcome{served: hit})
			return true
		}
	}
	ended = q.fetch(f, found)
	handed = !ended
	return ended
}

// unlead ends the lead of a flight whose answer is kept, or will not be.
func (q *query) unlead() {
	if q.done != nil {
		q.done()
	}
}
