package dialect

import (
	"net/http"

	"github.com/tidwall/sjson"
)

var _ Dialect = Generic{}

// Generic is the dialect of any OpenAI-compatible upstream. It adds one field: a stream is asked to report its usage,
// because a stored answer must have it.
type Generic struct{}

// Name is "generic".
func (Generic) Name() string { return "generic" }

// Edit adds StreamUsage.
func (Generic) Edit(body []byte, want Intent, quarantined func(Field) bool) ([]byte, []Field) {
	if !want.StreamUsage || quarantined(StreamUsage) {
		return body, nil
	}
	edited, err := sjson.SetRawBytes(body, string(StreamUsage), []byte("true"))
	if err != nil {
		return body, nil
	}
	return edited, []Field{StreamUsage}
}

// Refused reads status 400 with the name of a field in the body as a refusal of that field.
func (Generic) Refused(status int, head []byte, added []Field) []Field {
	if status != http.StatusBadRequest {
		return nil
	}
	return namedIn(head, added)
}
