package dialect

import (
	"bytes"

	"github.com/tidwall/sjson"
)

var _ Dialect = Generic{}

// Generic is the dialect of any OpenAI-compatible upstream. It adds one field: a stream is asked to report its usage,
// because a stored answer must have it.
type Generic struct{}

// Name is "generic".
func (Generic) Name() string { return "generic" }

// Edit adds StreamUsage.
func (Generic) Edit(r Request, want Intent, quarantined func(Field) bool) Edits {
	if !want.StreamUsage || quarantined(StreamUsage) {
		return Edits{Body: r.Body}
	}
	edited, ok := withStreamUsage(r.Body)
	if !ok {
		return Edits{Body: r.Body}
	}
	return Edits{Body: edited, Added: streamUsage}
}

var streamUsage = []Field{StreamUsage}

// withStreamUsage adds the member to the one that the body has, or as the last one: where its name is nowhere in the body, in whatever
// spelling, the body need not be read.
func withStreamUsage(body []byte) (edited []byte, ok bool) {
	end := bytes.LastIndexByte(body, '}')
	if end < 0 || bytes.IndexByte(body, '"') < 0 || bytes.Contains(body, []byte("stream_options")) || bytes.Contains(body, []byte(`\u`)) {
		edited, err := sjson.SetRawBytes(body, string(StreamUsage), []byte("true"))
		return edited, err == nil
	}
	const member = `,"stream_options":{"include_usage":true}}`
	edited = append(make([]byte, 0, end+len(member)), body[:end]...)
	return append(edited, member...), true
}
