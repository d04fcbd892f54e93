package dialect

var _ Dialect = Toy{}

// Toy is the dialect of an engine that reports the usage of a stream on a field of its own.
type Toy struct{}

const toyUsage Field = "toy_usage"

// Name is "toy".
func (Toy) Name() string { return "toy" }

// Caps is the zero value: the engine has no field for retention.
func (Toy) Caps(string) Caps { return Caps{} }

// Edit adds the field.
func (Toy) Edit(r Request, want Intent, quarantined func(Field) bool) Edits {
	e := newEditor(r, want, quarantined, nil)
	if want.StreamUsage {
		e.add(toyUsage, "true")
	}
	return e.done()
}
