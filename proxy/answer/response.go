package answer

import (
	"strconv"

	"github.com/tidwall/gjson"
)

// lastResponse returns the response object of a Responses stream's terminal event, whether it completed or not.
// ErrIncomplete without one, errReported where the stream reports an error or a failure.
func lastResponse(stream []byte) (gjson.Result, error) {
	for es := eventsOf(stream); ; {
		ev, ok := es.Next()
		switch {
		case !ok:
			return gjson.Result{}, ErrIncomplete
		case ev.Data == nil || isDone(ev.Data):
			continue
		}
		r, err := parseEvent(ev)
		if err != nil {
			return r, err
		}
		switch r.Get("type").Str {
		case "response.failed":
			return r, errReported
		case "response.completed", "response.incomplete":
			if last := r.Get("response"); last.IsObject() {
				return last, nil
			}
			return r, ErrMalformed
		}
	}
}

// script renders the events of a Responses stream.
type script struct {
	dst []byte
	seq int
}

// emit sends one event. members are the raw JSON of what follows type and sequence_number, without braces.
func (s *script) emit(kind, members string) {
	s.dst = append(append(append(s.dst, "event: "...), kind...), "\ndata: {\"type\":\""...)
	s.dst = append(append(s.dst, kind...), `","sequence_number":`...)
	s.dst = strconv.AppendInt(s.dst, int64(s.seq), 10)
	s.dst = append(append(append(s.dst, ','), members...), "}\n\n"...)
	s.seq++
}

// responseStream renders the events that would have led to response r.
func responseStream(r gjson.Result) []byte {
	s := &script{}
	begun := `"response":` + edited(r,
		unlessAbsent(r, edit{"status", `"in_progress"`}, edit{"output", "[]"}, edit{"usage", "null"}, edit{"completed_at", "null"})...)
	s.emit("response.created", begun)
	s.emit("response.in_progress", begun)
	for i, it := range r.Get("output").Array() {
		item{s, it, i}.play()
	}
	s.emit("response.completed", `"response":`+r.Raw)
	return s.dst
}

// edited is object r with edits applied, as a string.
func edited(r gjson.Result, edits ...edit) string { return string(appendEdited(nil, r, edits...)) }

// unlessAbsent returns those edits whose member r has.
func unlessAbsent(r gjson.Result, edits ...edit) []edit {
	var present []edit
	for _, e := range edits {
		if r.Get(e.name).Exists() {
			present = append(present, e)
		}
	}
	return present
}

// item is one output item of a response, at a place in the output.
type item struct {
	s *script
	gjson.Result
	at int
}

// place is the members that say of which item an event is.
func (it item) place() string {
	return `"item_id":` + orEmpty(it.Get("id")) + `,"output_index":` + strconv.Itoa(it.at)
}

// play renders an item from its bare beginning to its whole.
func (it item) play() {
	bare := unlessAbsent(it.Result, edit{"status", `"in_progress"`}, edit{"content", "[]"}, edit{"summary", "[]"},
		edit{"arguments", `""`}, edit{"input", `""`})
	it.emit("response.output_item.added", `"item":`+edited(it.Result, bare...))
	switch it.Get("type").Str {
	case "function_call":
		it.text("response.function_call_arguments", "arguments", "", it.Result, memberOf(it.Result, "name"))
	case "mcp_call":
		it.text("response.mcp_call_arguments", "arguments", "", it.Result, "")
	case "custom_tool_call":
		it.text("response.custom_tool_call_input", "input", "", it.Result, "")
	}
	for i, part := range it.Get("summary").Array() {
		it.summary(`,"summary_index":`+strconv.Itoa(i), part)
	}
	for i, part := range it.Get("content").Array() {
		it.content(`,"content_index":`+strconv.Itoa(i), part)
	}
	it.emit("response.output_item.done", `"item":`+it.Raw)
}

// emit sends an event that names its item by its place in the output alone.
func (it item) emit(kind, members string) {
	it.s.emit(kind, `"output_index":`+strconv.Itoa(it.at)+","+members)
}

// text sends a text at once and says that it is done, the latter with more.
func (it item) text(kind, name, index string, from gjson.Result, more string) {
	it.delta(kind, name, index, from)
	it.done(kind, name, index, from, more)
}

// delta sends member name of from, where it is not empty, as kind.delta.
func (it item) delta(kind, name, index string, from gjson.Result) {
	if whole := orEmpty(from.Get(name)); whole != `""` {
		it.s.emit(kind+".delta", it.place()+index+`,"delta":`+whole+logprobs(kind, from))
	}
}

// done sends member name of from, and more, as kind.done.
func (it item) done(kind, name, index string, from gjson.Result, more string) {
	it.s.emit(kind+".done", it.place()+index+`,"`+name+`":`+orEmpty(from.Get(name))+logprobs(kind, from)+more)
}

// logprobs is the member that output_text events always have, and no others.
func logprobs(kind string, part gjson.Result) string {
	if kind != outputText {
		return ""
	}
	if l := part.Get("logprobs"); l.IsArray() {
		return `,"logprobs":` + l.Raw
	}
	return `,"logprobs":[]`
}

const outputText = "response.output_text"

func (it item) summary(index string, part gjson.Result) {
	const kind = "response.reasoning_summary_"
	it.s.emit(kind+"part.added", it.place()+index+`,"part":`+edited(part, edit{"text", `""`}))
	it.text(kind+"text", "text", index, part, "")
	it.s.emit(kind+"part.done", it.place()+index+`,"part":`+part.Raw)
}

func (it item) content(index string, part gjson.Result) {
	bare := unlessAbsent(part, edit{"text", `""`}, edit{"refusal", `""`}, edit{"annotations", "[]"}, edit{"logprobs", "[]"})
	it.s.emit("response.content_part.added", it.place()+index+`,"part":`+edited(part, bare...))
	switch part.Get("type").Str {
	case "output_text":
		it.delta(outputText, "text", index, part)
		it.annotations(index, part)
		it.done(outputText, "text", index, part, "")
	case "reasoning_text":
		it.text("response.reasoning_text", "text", index, part, "")
	case "refusal":
		it.text("response.refusal", "refusal", index, part, "")
	}
	it.s.emit("response.content_part.done", it.place()+index+`,"part":`+part.Raw)
}

func (it item) annotations(index string, part gjson.Result) {
	for i, a := range part.Get("annotations").Array() {
		it.s.emit(outputText+".annotation.added",
			it.place()+index+`,"annotation_index":`+strconv.Itoa(i)+`,"annotation":`+a.Raw)
	}
}

// memberOf is member name of r with a comma before it, or nothing.
func memberOf(r gjson.Result, name string) string {
	if v := r.Get(name); v.Exists() {
		return `,"` + name + `":` + v.Raw
	}
	return ""
}

// orEmpty is r's JSON where it is a string, else that of an empty one.
func orEmpty(r gjson.Result) string {
	if r.Type == gjson.String {
		return r.Raw
	}
	return `""`
}
