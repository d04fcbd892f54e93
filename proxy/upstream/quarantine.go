package upstream

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"reprise/proxy/upstream/dialect"
)

const (
	// quarantineFor is how long a field that a replica has refused is not added to requests for the model: its operator may change it.
	quarantineFor = time.Hour
	// mostQuarantined bounds what is held of one replica, because clients choose the names of models. Beyond it nothing is added to
	// requests for any model that is not held.
	mostQuarantined = 1000
	// trustAfterFailure is how long no error is put down to stream_options after one that came without it too, so that a server that fails
	// gets few requests twice. After a success with it that is quarantineFor.
	trustAfterFailure = time.Minute
)

// refusedField is a field that a replica has refused in a request for a model.
type refusedField struct {
	model string
	field dialect.Field
}

// quarantine holds the fields that a replica has refused. It is safe for concurrent use.
type quarantine struct {
	mu      sync.Mutex                 // protects what follows
	until   map[refusedField]time.Time // when the field may be added again
	trusted map[string]time.Time       // by model, until when no error is put down to stream_options; as many as until may have
}

// suspect reports whether an error in a request for model may be due to stream_options although it does not name it.
func (q *quarantine) suspect(model string, now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	until, held := q.trusted[model]
	return held && !now.Before(until) || !held && len(q.trusted) < mostQuarantined
}

// trust ends the suspicion for a while: a request for model has succeeded with stream_options, or has failed without it.
func (q *quarantine) trust(model string, now time.Time, d time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	until, held := q.trusted[model]
	if !held && len(q.trusted) >= mostQuarantined {
		maps.DeleteFunc(q.trusted, func(_ string, until time.Time) bool { return !now.Before(until) })
		if len(q.trusted) >= mostQuarantined {
			return
		}
	}
	if q.trusted == nil {
		q.trusted = map[string]time.Time{}
	}
	if end := now.Add(d); end.After(until) {
		q.trusted[model] = end
	}
}

// of returns what [dialect.Dialect.Edit] asks for each field of a request for model.
func (q *quarantine) of(model string, now time.Time) func(dialect.Field) bool {
	return func(field dialect.Field) bool { return q.holds(refusedField{model, field}, now) }
}

func (q *quarantine) holds(f refusedField, now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.until) == 0 {
		return false
	}
	until, held := q.until[f]
	if held && !now.Before(until) {
		delete(q.until, f)
		held = false
	}
	return held || len(q.until) >= mostQuarantined && !q.releaseLocked(now)
}

// add holds a field, and reports whether that is new.
func (q *quarantine) add(f refusedField, now time.Time) (isNew bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, held := q.until[f]; held || len(q.until) >= mostQuarantined && !q.releaseLocked(now) {
		return false
	}
	if q.until == nil {
		q.until = map[refusedField]time.Time{}
	}
	q.until[f] = now.Add(quarantineFor)
	return true
}

// models returns the models for which a field is held now, sorted by name.
func (q *quarantine) models(field dialect.Field, now time.Time) (all []LeftOut) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for f, until := range q.until {
		if f.field == field && now.Before(until) {
			all = append(all, LeftOut{f.model, until.UTC()})
		}
	}
	slices.SortFunc(all, func(a, b LeftOut) int { return cmp.Compare(a.Model, b.Model) })
	return all
}

// releaseLocked releases all fields whose time is over, and reports whether there is room then.
func (q *quarantine) releaseLocked(now time.Time) bool {
	maps.DeleteFunc(q.until, func(_ refusedField, until time.Time) bool { return !now.Before(until) })
	return len(q.until) < mostQuarantined
}

// quarantine notes that a request for model was refused because of fields, as it was not refused without them.
func (c *Client) quarantine(replica *Replica, model string, fields []dialect.Field) {
	for _, field := range fields {
		c.hints.numbers(replica, string(field)).refused.Add(1)
		if replica.refused.add(refusedField{model, field}, c.now()) {
			c.log.Warn("the upstream refuses a field that the proxy adds; requests for the model are sent without it for a while",
				"upstream", replica.Name(), "model", model, "field", string(field), "for", quarantineFor)
		}
	}
}
