package dialect

var _ Dialect = Plain{}

// Plain is the dialect of an upstream that gets the client's request as it is.
type Plain struct{}

// Name is "plain".
func (Plain) Name() string { return "plain" }

// Edit adds nothing.
func (Plain) Edit(body []byte, _ Intent, _ func(Field) bool) ([]byte, []Field) { return body, nil }

// Refused returns nothing, because nothing was added.
func (Plain) Refused(int, []byte, []Field) []Field { return nil }
