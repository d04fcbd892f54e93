package proxy

import (
	"net/http"

	"reprise/proxy/upstream"
)

// flight is one key on its way to an answer, which all callers with that key wait for.
type flight = upstream.Flight[*outcome]

// outcome is what a flight found: an answer from the cache, or the upstream's.
type outcome struct {
	served *served             // from the cache; or
	rec    *upstream.Recording // from the upstream, perhaps still being written

	// With rec:
	filling    *upstream.Filling // copies the answer into rec
	replica    *upstream.Replica // that answered
	foreign    bool              // another model has answered than the one asked for
	asker      http.Header       // of the request that the upstream answered
	found      *finding          // what the search by meaning found
	addedUsage bool              // the stream reports its usage because the proxy asked for it
	kept       *keptInfo         // set before rec ends: whether it was stored
	done       <-chan struct{}   // closed when the flight has ended
}

// Release takes back what the recording was charged.
func (o *outcome) Release() {
	if o.rec != nil {
		o.rec.Release()
	}
}

// Abort cuts the recording.
func (o *outcome) Abort(err error) {
	if o.rec != nil {
		o.rec.Finish(err)
	}
}
