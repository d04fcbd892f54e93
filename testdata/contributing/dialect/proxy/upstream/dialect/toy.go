package dialect

import (
	"net/http"

	"github.com/tidwall/sjson"
)

var _ Dialect = Toy{}

// Toy is the dialect of an engine that reports the usage of a stream on a field of its own.
type Toy struct{}

const toyUsage Field = "toy_usage"

// Name is "toy".
func (Toy) Name() string { return "toy" }

// Edit adds the field.
func (Toy) Edit(body []byte, want Intent, quarantined func(Field) bool) ([]byte, []Field) {
	if !want.StreamUsage || quarantined(toyUsage) {
		return body, nil
	}
	edited, err := sjson.SetBytes(body, string(toyUsage), true)
	if err != nil {
		return body, nil
	}
	return edited, []Field{toyUsage}
}

// Refused reads status 400 with the name of a field in the body as a refusal of that field.
func (Toy) Refused(status int, head []byte, added []Field) []Field {
	if status != http.StatusBadRequest {
		return nil
	}
	return namedIn(head, added)
}
