package dialect

import "bytes"

var _ Dialect = openAI{}

// openAI is the dialect of OpenAI, and of Azure OpenAI, where a deployment must have the name of its model or be mapped to it. Both refuse
// unknown fields, and fields that the model's family does not have; see families.go.
type openAI struct{ name string }

const (
	cacheKey        Field = "prompt_cache_key"
	cacheRetention  Field = "prompt_cache_retention"
	cacheOptions    Field = "prompt_cache_options"
	cacheBreakpoint Field = "prompt_cache_breakpoint"
)

// Name is its name in settings.
func (o openAI) Name() string { return o.name }

// Caps returns what retention is worth for the family of a model.
func (openAI) Caps(model string) Caps { return openAIFamily(model).caps() }

// Edit adds the key of the prefix, and what the family has for retention.
func (o openAI) Edit(r Request, want Intent, quarantined func(Field) bool) Edits {
	if want == (Intent{}) {
		return Edits{Body: r.Body}
	}
	e, f := newEditor(r, want, quarantined, nil), openAIFamily(r.Model)
	if !f.caches { // a deployment has a name of its own
		f = openAIFamily(r.Asked)
	}
	e.streamUsage()
	var hints []hint
	if f.caches {
		hints = []hint{{affinity, cacheKey, chats | responses, version{}}}
	}
	e.express(hints)
	if !o.retain(&e, f) {
		e.noop("Retain")
	}
	return e.done()
}

// retain expresses Retain, and reports whether it is expressed.
func (openAI) retain(e *editor, f family) bool {
	if e.want.Retain == RetainDefault {
		return true
	}
	if endpointOf(e.Path)&(chats|responses) == 0 {
		return false
	}
	if e.scan(); !e.object || e.twice {
		return false
	}
	if e.has(string(cacheOptions)) || e.has(string(cacheRetention)) || bytes.Contains(e.Body, []byte(cacheBreakpoint)) {
		return true // the client decides
	}
	switch {
	case f.explicit && e.want.Retain == RetainOff:
		return e.add(cacheOptions, `{"mode":"explicit"}`) // and no breakpoint: nothing is written
	case f.explicit:
		return e.breakpoint(cacheBreakpoint, `{"mode":"explicit"}`, textBlock(e.Path), f.minimum)
	case f.long && e.want.Retain == RetainLong:
		return e.add(cacheRetention, `"24h"`)
	}
	return e.want.Retain == RetainOff // nothing is charged for a write
}

// textBlock is the type of a block of text in a message.
func textBlock(path string) string {
	if endpointOf(path) == responses {
		return "input_text"
	}
	return "text"
}
