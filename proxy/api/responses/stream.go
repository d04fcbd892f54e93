package responses

import (
	"bytes"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
)

// streams implements [answer.Streams].
type streams struct{}

// Merge returns the response object of the stream's terminal event, whether it completed or not. A response that failed is
// ErrReported.
func (streams) Merge(stream []byte) (gjson.Result, error) {
	for es := answer.EventsOf(stream); ; {
		ev, ok := es.Next()
		switch {
		case !ok:
			return gjson.Result{}, answer.ErrIncomplete
		case ev.Data == nil || ev.IsDone():
			continue
		}
		r, err := answer.ParseEvent(ev)
		if err != nil {
			return r, err
		}
		switch r.Get("type").Str {
		case "response.failed":
			return r, answer.ErrReported
		case "response.completed", "response.incomplete":
			if last := r.Get("response"); last.IsObject() {
				return last, nil
			}
			return r, answer.ErrMalformed
		}
	}
}

// Mark marks ids and times in an event: the id of its response, never that of an item.
func (streams) Mark(m *answer.Marker, event gjson.Result) {
	event.ForEach(func(k, v gjson.Result) bool {
		switch {
		case k.Str == "response" && v.IsObject():
			m.Object(v)
		case k.Str == "response_id" && v.Type == gjson.String:
			m.Value(v, answer.SlotID)
		}
		return true
	})
}

// Ended reports whether a stream holds its response.completed.
func (streams) Ended(stream []byte) bool {
	return bytes.Contains(stream, []byte("event: response.completed"))
}
