package dialect

var _ Dialect = Plain{}

// Plain is the dialect of an upstream that gets the client's request as it is.
type Plain struct{}

// Name is "plain".
func (Plain) Name() string { return "plain" }

// Edit adds nothing.
func (Plain) Edit(r Request, _ Intent, _ func(Field) bool) Edits { return Edits{Body: r.Body} }

// Caps is the zero value.
func (Plain) Caps(string) Caps { return Caps{} }
