package upstream

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"reprise/proxy/upstream/dialect"
)

// HintCount counts what became of one hint at one upstream, since the client was made.
type HintCount struct {
	Upstream string // its name
	Dialect  string
	Field    string    // what was added, or the member of dialect.Intent that could not be expressed
	Added    int64     // requests to which the field was added
	Refused  int64     // of these, those that the upstream refused for it, and that succeeded without it
	Noop     int64     // requests for which the wish could not be expressed
	LeftOut  []LeftOut // models for which the upstream has refused the field, by their names
}

// LeftOut is a model for which a field is not added to requests.
type LeftOut struct {
	Model string    `json:"model"`
	Until time.Time `json:"until"` // UTC
}

// hintCounts counts hints. Only dialects make fields, so that there are few.
type hintCounts struct{ of sync.Map } // hintKey → *hintNumbers

type hintKey struct {
	replica *Replica
	field   string
}

type hintNumbers struct{ added, refused, noop atomic.Int64 }

func (h *hintCounts) numbers(replica *Replica, field string) *hintNumbers {
	key := hintKey{replica, field}
	if n, ok := h.of.Load(key); ok {
		return n.(*hintNumbers)
	}
	n, _ := h.of.LoadOrStore(key, new(hintNumbers))
	return n.(*hintNumbers)
}

// edited counts what a dialect made of a request.
func (h *hintCounts) edited(replica *Replica, e *dialect.Edits) {
	for _, field := range e.Added {
		h.numbers(replica, string(field)).added.Add(1)
	}
	for _, wish := range e.Noop {
		h.numbers(replica, wish).noop.Add(1)
	}
}

// Hints returns the counts of all hints that were wanted so far, in the order of upstreams and fields.
func (c *Client) Hints() (all []HintCount) {
	c.hints.of.Range(func(key, value any) bool {
		k, n := key.(hintKey), value.(*hintNumbers)
		all = append(all, HintCount{k.replica.Name(), k.replica.dialect.Name(), k.field, n.added.Load(), n.refused.Load(), n.noop.Load(), k.replica.refused.models(dialect.Field(k.field), c.now())})
		return true
	})
	slices.SortFunc(all, func(a, b HintCount) int {
		return cmp.Or(cmp.Compare(a.Upstream, b.Upstream), cmp.Compare(a.Field, b.Field))
	})
	return all
}
