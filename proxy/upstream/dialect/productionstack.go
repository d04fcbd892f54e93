package dialect

import "net/http"

var _ Dialect = productionStack{}

// productionStack is vLLM's production stack: its router keeps a session at its engine by a header that its operator names
// (--session-key), and so must the proxy's. The body reaches the engine as it is.
type productionStack struct{}

// Name is "production-stack".
func (productionStack) Name() string { return "production-stack" }

// Caps is the zero value.
func (productionStack) Caps(string) Caps { return Caps{} }

// Edit sets the header of sessions, where it is named.
func (productionStack) Edit(r Request, want Intent, quarantined func(Field) bool) Edits {
	t := table{name: "production-stack", usage: true, strip: engineInternals, hints: []hint{{salt, "cache_salt", chats | completions | responses, nil}}}
	if r.SessionKey != "" {
		t.hints = append(t.hints, hint{conversation, Field(headerPrefix + http.CanonicalHeaderKey(r.SessionKey)), texts, nil})
	}
	return t.Edit(r, want, quarantined)
}
