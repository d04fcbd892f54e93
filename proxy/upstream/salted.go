package upstream

import (
	"net/http"
	"slices"

	"reprise/proxy/upstream/dialect"
)

// Salted reports whether tenants share no KV blocks at the target: that is asked for, and its dialect has a field for it.
func (t *Target) Salted() bool {
	d, err := dialect.New(t.Dialect)
	if err != nil || !t.Salt {
		return false
	}
	want := dialect.Intent{Salt: "s"}
	sample := dialect.Request{Path: "/v1/chat/completions", Header: http.Header{}, Body: []byte(`{"model":"m","messages":[]}`)}
	edits := d.Edit(sample, want, func(dialect.Field) bool { return false })
	return len(edits.Added) > 0 && !slices.Contains(edits.Noop, "Salt")
}
