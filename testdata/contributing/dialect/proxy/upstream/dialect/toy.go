package dialect

import "github.com/tidwall/sjson"

var _ Dialect = Toy{}

// Toy is the dialect of an engine that reports the usage of a stream on a field of its own.
type Toy struct{}

const toyUsage Field = "toy_usage"

// Name is "toy".
func (Toy) Name() string { return "toy" }

// Edit adds the field.
func (Toy) Edit(r Request, want Intent, quarantined func(Field) bool) Edits {
	if !want.StreamUsage || quarantined(toyUsage) {
		return Edits{Body: r.Body}
	}
	edited, err := sjson.SetBytes(r.Body, string(toyUsage), true)
	if err != nil {
		return Edits{Body: r.Body}
	}
	return Edits{Body: edited, Added: []Field{toyUsage}}
}

// Caps is the zero value: the engine has no field for retention.
func (Toy) Caps(string) Caps { return Caps{} }
