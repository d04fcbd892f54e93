package dialect

var _ Dialect = Generic{}

// Generic is the dialect of any OpenAI-compatible upstream, such as DeepSeek, Ollama and TGI. It adds one field: a stream is asked to report
// its usage, because a stored answer must have it.
type Generic struct{}

var generic = table{name: "generic", usage: true}

// Name is "generic".
func (Generic) Name() string { return generic.name }

// Caps is the zero value.
func (Generic) Caps(model string) Caps { return generic.Caps(model) }

// Edit adds StreamUsage.
func (Generic) Edit(r Request, want Intent, quarantined func(Field) bool) Edits {
	return generic.Edit(r, want, quarantined)
}
