package watch

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"reprise/proxy/observe"
)

// Request is a request that has been answered, as a viewer sees it. It has no prompt and no answer.
type Request struct {
	At       time.Time `json:"at"` // its end
	ID       string    `json:"id"`
	Tenant   string    `json:"tenant,omitempty"` // a digest
	Model    string    `json:"model,omitempty"`
	Endpoint string    `json:"endpoint"`
	Result   string    `json:"result"`
	Why      string    `json:"why,omitempty"`
	Upstream string    `json:"upstream,omitempty"`
	Status   int       `json:"status"`
	Bytes    int64     `json:"bytes"`
	Took     float64   `json:"took_seconds"`
	Waited   float64   `json:"upstream_seconds,omitempty"`
	Saved    int64     `json:"tokens_saved,omitempty"`
	Stream   bool      `json:"stream,omitempty"`
}

// Filter selects requests; "" selects all.
type Filter struct {
	None   bool   // no request at all
	Model  string // a part of it, in any letter case
	Tenant string // the begin of it
	Result string
}

func (f *Filter) matches(tenant, model, result string) bool {
	return !f.None && (f.Result == "" || f.Result == result) && strings.HasPrefix(tenant, f.Tenant) &&
		(f.Model == "" || strings.Contains(strings.ToLower(model), f.Model))
}

// Spacing is the least time between two requests of one result that a viewer gets: rare results are not lost among many of another one.
const Spacing = 100 * time.Millisecond

// buffered is how many events wait for a viewer before it is dropped.
const buffered = 256

// mostText is the longest text in bytes of an event that a client may have chosen.
const mostText = 128

// Event is one of a viewer's events: a request, or the end of a step of the history.
type Event struct {
	Kind string // request or step
	Data []byte // JSON, without line feeds
}

// errViewers is why there is no room for another viewer.
var errViewers = errors.New("there are as many viewers as allowed")

// Viewer gets events until it is closed.
type Viewer struct {
	of     *viewers
	filter Filter
	events chan Event
	next   [Results]turn
}

// Events is closed when the viewer was too slow, and when the watch is closed.
func (v *Viewer) Events() <-chan Event { return v.events }

// Close ends the viewer.
func (v *Viewer) Close() { v.of.remove(v) }

// viewers are those that there are. The list is replaced, so that a request reads it without a lock.
type viewers struct {
	list atomic.Pointer[[]*Viewer] // nil: none
	most int

	mu     sync.Mutex // held while the list is replaced, and while events are sent: none is sent to a closed channel
	closed bool
	recent recent
}

// View returns a viewer of the requests that f selects. It begins with those of the last ones.
func (w *Watch) View(f Filter) (*Viewer, error) {
	f.Model = strings.ToLower(f.Model)
	v := &Viewer{of: &w.viewers, filter: f, events: make(chan Event, buffered)}
	return v, w.viewers.add(v)
}

func (all *viewers) now() []*Viewer {
	if l := all.list.Load(); l != nil {
		return *l
	}
	return nil
}

func (all *viewers) add(v *Viewer) error {
	all.mu.Lock()
	defer all.mu.Unlock()
	list := all.now()
	if all.closed || len(list) >= all.most {
		return errViewers
	}
	all.recent.show(v)
	list = append(list[:len(list):len(list)], v)
	all.list.Store(&list)
	return nil
}

func (all *viewers) remove(v *Viewer) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.removeLocked(v)
}

func (all *viewers) removeLocked(v *Viewer) {
	at := slices.Index(all.now(), v)
	if at < 0 {
		return // it was dropped before
	}
	if rest := slices.Delete(slices.Clone(all.now()), at, at+1); len(rest) > 0 {
		all.list.Store(&rest)
	} else {
		all.list.Store(nil)
	}
	close(v.events)
}

func (all *viewers) close() {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.closed = true
	for _, v := range all.now() {
		all.removeLocked(v)
	}
}

// send passes an event to viewers, and drops those that have no room for it.
func (all *viewers) send(e Event, to []*Viewer) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, v := range to {
		if !slices.Contains(all.now(), v) {
			continue
		}
		select {
		case v.events <- e:
		default:
			all.removeLocked(v)
		}
	}
}

// tick sends every viewer that the history has another step.
func (all *viewers) tick(at time.Time) {
	if list := all.now(); len(list) > 0 {
		data, _ := json.Marshal(map[string]any{"at": at.UTC()})
		all.send(Event{"step", data}, list)
	}
}

// wants reports whether passed has a use for a request with this result. It takes less than ten nanoseconds where it has none.
func (w *Watch) wants(result observe.Result, now time.Time) bool {
	return w.Watched() || w.recent[result].due(now)
}

// Watched reports whether there is a viewer.
func (w *Watch) Watched() bool { return w.viewers.list.Load() != nil }

// passed shows a request to those viewers that take it, and keeps it for later ones.
func (w *Watch) passed(o *observe.Outcome) {
	var few [4]*Viewer
	to, result := few[:0], o.Result.String()
	for _, v := range w.viewers.now() {
		if v.filter.matches(o.Tenant, o.Model, result) && v.next[o.Result].take(o.At) {
			to = append(to, v)
		}
	}
	keep := w.recent[o.Result].take(o.At)
	if len(to) == 0 && !keep {
		return
	}
	one := Request{At: o.At, ID: short(o.ID), Tenant: o.Tenant, Model: short(o.Model), Endpoint: short(o.Place()), Result: result, Why: short(o.Why()), Upstream: o.Upstream,
		Status: o.Status, Bytes: o.Bytes, Took: o.Took.Seconds(), Waited: o.Waited.Seconds(), Saved: o.Saved(), Stream: o.Stream}
	data, err := json.Marshal(one)
	if err != nil {
		return
	}
	e := Event{"request", data}
	w.viewers.send(e, to)
	if keep {
		w.viewers.keep(past{e, o.Tenant, one.Model, result})
	}
}

// turn is when the next request of a result is taken, in nanoseconds since 1970.
type turn struct{ at atomic.Int64 }

func (t *turn) due(now time.Time) bool { return now.UnixNano() >= t.at.Load() }

// take reports whether it is time for another request.
func (t *turn) take(now time.Time) bool {
	at := t.at.Load()
	return now.UnixNano() >= at && t.at.CompareAndSwap(at, now.UnixNano()+int64(Spacing))
}

// short cuts a text that a client may have chosen.
func short(text string) string {
	if head := observe.Head(text, mostText); len(head) < len(text) {
		return head + "…"
	}
	return text
}
