package watch

import (
	"slices"

	"reprise/store"
)

// mostRecent is how many of the last requests are kept for a viewer that comes, each of some 400 bytes: less than its buffer has.
const mostRecent = 64

// past is a request that has been shown, or would have been.
type past struct {
	event                 Event
	tenant, model, result string
}

// recent are the last requests, as many of each result as a viewer gets. Without them a page that is opened after the traffic is empty.
type recent struct {
	ring []past
	next int
}

// keep appends a request; the oldest one makes room.
func (all *viewers) keep(p past) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if r := &all.recent; len(r.ring) < mostRecent {
		r.ring = append(r.ring, p)
	} else {
		r.ring[r.next] = p
		r.next = (r.next + 1) % mostRecent
	}
}

// forget drops the requests that a purge of f may concern.
func (all *viewers) forget(f store.Filter) {
	all.mu.Lock()
	defer all.mu.Unlock()
	r := &all.recent
	r.ring = slices.Concat(r.ring[r.next:], r.ring[:r.next]) // the oldest first
	r.ring = slices.DeleteFunc(r.ring, func(p past) bool {
		return (f.Tenant == "" || p.tenant == f.Tenant) && (f.Model == "" || p.model == short(f.Model))
	})
	r.next = 0
}

// show gives a new viewer those that it selects, the oldest first.
func (r *recent) show(to *Viewer) {
	for i := range r.ring {
		if p := &r.ring[(r.next+i)%len(r.ring)]; to.filter.matches(p.tenant, p.model, p.result) {
			to.events <- p.event // there is room: it has got nothing yet
		}
	}
}
