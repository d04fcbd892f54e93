package dialect

var _ Dialect = Plain{}

// Plain is the dialect of an upstream that gets the client's request as it is.
type Plain struct{}

var plain = table{name: "plain"}

// Name is "plain".
func (Plain) Name() string { return plain.name }

// Caps is the zero value.
func (Plain) Caps(model string) Caps { return plain.Caps(model) }

// Edit adds nothing.
func (Plain) Edit(r Request, want Intent, quarantined func(Field) bool) Edits {
	return plain.Edit(r, want, quarantined)
}
