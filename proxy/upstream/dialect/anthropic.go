package dialect

import "bytes"

var _ Dialect = anthropic{}

// anthropic is the dialect of Anthropic's API. Nothing is cached unless the request marks the end of a prefix, and a write has a price; so
// a mark is set only where retention is wanted, and the client has set none. There is no affinity and no isolation inside an
// organization. Its endpoint for OpenAI's clients has no marks.
type anthropic struct{}

const cacheControl Field = "cache_control"

// Name is "anthropic".
func (anthropic) Name() string { return "anthropic" }

// Caps returns what retention is worth for the family of a model.
func (anthropic) Caps(model string) Caps { return anthropicFamily(model).caps() }

// Edit marks the end of the system prompt, or of the tools where there is none.
func (a anthropic) Edit(r Request, want Intent, quarantined func(Field) bool) Edits {
	if want == (Intent{}) {
		return Edits{Body: r.Body}
	}
	e := newEditor(r, want, quarantined, nil)
	e.streamUsage()
	e.express(nil)
	if want.Retain > RetainOff && !a.retain(&e, anthropicFamily(r.Model)) {
		e.noop("Retain")
	}
	return e.done()
}

// retain expresses Retain, and reports whether it is expressed.
func (anthropic) retain(e *editor, f family) bool {
	if endpointOf(e.Path) != messages || f.minimum == 0 {
		return false
	}
	switch e.scan(); {
	case !e.object || e.twice:
		return false
	case bytes.Contains(e.Body, []byte(cacheControl)):
		return true // the client decides
	}
	mark := `{"type":"ephemeral"}`
	if e.want.Retain == RetainLong {
		mark = `{"type":"ephemeral","ttl":"1h"}`
	}
	return e.breakpoint(cacheControl, mark, "text", f.minimum)
}
