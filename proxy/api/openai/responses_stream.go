package openai

import (
	"strings"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
)

// Merger returns a merger whose object is the response of the stream's terminal event, whether it completed or not. A response that
// failed is ErrReported.
func (responses) Merger() answer.Merger { return &responseMerger{ended: map[int64]string{}} }

// responseMerger implements [answer.Merger].
type responseMerger struct {
	response gjson.Result
	begun    int              // events of items that begin
	ends     int              // and that end
	ended    map[int64]string // the items of those, by their output_index
}

// Add adds an event.
func (m *responseMerger) Add(event gjson.Result) (last bool, err error) {
	switch event.Get("type").Str {
	case "response.output_item.added":
		m.begun++
	case "response.output_item.done":
		m.ends++
		if item := event.Get("item"); item.IsObject() {
			m.ended[event.Get("output_index").Int()] = item.Raw
		}
	case "response.failed":
		return true, answer.ErrReported
	case "response.completed", "response.incomplete":
		if m.response = event.Get("response"); !m.response.IsObject() {
			err = answer.ErrMalformed
		}
		m.complete()
		return true, err
	}
	return false, nil
}

// complete gives a response the items of its stream where it has none, as the responses of some gateways. Each item that has begun must have
// ended: with the terminal event, that proves the stream whole.
func (m *responseMerger) complete() {
	n := len(m.ended)
	if n != m.ends || m.begun > 0 && n != m.begun || n == 0 || !rawjson.Empty(m.response.Get("output")) {
		return
	}
	items := make([]string, n)
	for i, item := range m.ended {
		if i < 0 || i >= int64(n) {
			return
		}
		items[i] = item
	}
	m.response = gjson.Parse(rawjson.Edited(m.response, rawjson.Set("output", "["+strings.Join(items, ",")+"]")))
}

// Done reports that [DONE] does not end a stream.
func (m *responseMerger) Done() bool { return false }

// Object returns the response.
func (m *responseMerger) Object() (gjson.Result, error) { return m.response, nil }

// Varies returns the fragment, the number and the padding of an event that has a fragment.
func (m *responseMerger) Varies(event gjson.Result) []gjson.Result { return varying(event) }

// varying returns the fragment, the number and the padding of an event that has a fragment.
func varying(event gjson.Result) (varies []gjson.Result) {
	if !strings.HasSuffix(event.Get("type").Str, ".delta") {
		return nil
	}
	event.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "delta", "sequence_number", "obfuscation":
			if v.Type == gjson.String || v.Type == gjson.Number {
				varies = append(varies, v)
			}
		}
		return true
	})
	return varies
}

// Repeat adds such an event, of which nothing is in the response.
func (m *responseMerger) Repeat([]string) bool { return true }

// Mark marks the ids and times of the response and the item in an event.
func (p responses) Mark(m *answer.Marker, event gjson.Result) {
	event.ForEach(func(k, v gjson.Result) bool {
		switch {
		case k.Str == "response" && v.IsObject():
			m.Object(v, p)
		case k.Str == "response_id" && v.Type == gjson.String:
			m.Value(v, answer.SlotID)
		case k.Str == "item" && v.IsObject():
			markItem(m, v)
		case k.Str == "item_id" && v.Type == gjson.String:
			m.Value(v, answer.SlotLink)
		}
		return true
	})
}

// MarkLinks marks the ids of the items of a response.
func (responses) MarkLinks(m *answer.Marker, name string, v gjson.Result) {
	if name != "output" || !v.IsArray() {
		return
	}
	v.ForEach(func(_, item gjson.Result) bool {
		markItem(m, item)
		return true
	})
}

// markItem marks the ids of an item: its own id, and the id of a call.
func markItem(m *answer.Marker, item gjson.Result) {
	item.ForEach(func(k, v gjson.Result) bool {
		if (k.Str == "id" || k.Str == "call_id") && v.Type == gjson.String {
			m.Value(v, answer.SlotLink)
		}
		return true
	})
}

// Last reports whether an event ends the response, in whatever way. Not every server names its events.
func (responses) Last(data []byte) bool {
	switch gjson.GetBytes(data, "type").Str {
	case "response.completed", "response.incomplete", "response.failed", "error":
		return true
	}
	return false
}
