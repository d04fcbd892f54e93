package openai

import (
	"strconv"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
)

// responseScript renders the events of a Responses stream.
type responseScript struct {
	*answer.Script
	next int // sequence_number
}

// emit sends one event. members are the raw JSON of what follows type and sequence_number, without braces.
func (s *responseScript) emit(kind, members string) {
	s.Event(kind, `{"type":"`, kind, `","sequence_number":`, strconv.Itoa(s.next), ",", members, "}")
	s.next++
}

// Render renders the events that would have led to response r.
func (responses) Render(r gjson.Result) []byte {
	s := &responseScript{Script: answer.NewScript(r)}
	begun := `"response":` + rawjson.Edited(r, rawjson.Change("status", `"in_progress"`), rawjson.Change("output", "[]"),
		rawjson.Change("usage", "null"), rawjson.Change("completed_at", "null"))
	s.emit("response.created", begun)
	s.emit("response.in_progress", begun)
	for i, it := range rawjson.Elements(r.Get("output")) {
		if !s.Full() {
			item{s, it, i}.play()
		}
	}
	s.emit("response.completed", `"response":`+r.Raw)
	return s.Stream()
}

// item is one output item of a response, at a place in the output.
type item struct {
	s *responseScript
	gjson.Result
	at int
}

// place is the members that identify the item of an event.
func (it item) place() string {
	return `"item_id":` + rawjson.String(it.Get("id")) + `,"output_index":` + strconv.Itoa(it.at)
}

// play renders an item from its empty beginning to its end.
func (it item) play() {
	it.emit("response.output_item.added", `"item":`+rawjson.Edited(it.Result, rawjson.Change("status", `"in_progress"`),
		rawjson.Change("content", "[]"), rawjson.Change("summary", "[]"), rawjson.Change("arguments", `""`), rawjson.Change("input", `""`)))
	switch it.Get("type").Str {
	case "function_call":
		it.text("response.function_call_arguments", "arguments", "", it.Result, rawjson.Member(it.Result, "name"))
	case "mcp_call":
		it.text("response.mcp_call_arguments", "arguments", "", it.Result, "")
	case "custom_tool_call":
		it.text("response.custom_tool_call_input", "input", "", it.Result, "")
	}
	for i, part := range rawjson.Elements(it.Get("summary")) {
		if it.s.Full() {
			return
		}
		it.summary(`,"summary_index":`+strconv.Itoa(i), part)
	}
	for i, part := range rawjson.Elements(it.Get("content")) {
		if it.s.Full() {
			return
		}
		it.content(`,"content_index":`+strconv.Itoa(i), part)
	}
	it.emit("response.output_item.done", `"item":`+it.Raw)
}

// emit sends an event that identifies its item by its place in the output alone.
func (it item) emit(kind, members string) {
	it.s.emit(kind, `"output_index":`+strconv.Itoa(it.at)+","+members)
}

// text sends a text as one delta, then its done event with more.
func (it item) text(kind, name, index string, from gjson.Result, more string) {
	it.delta(kind, name, index, from)
	it.done(kind, name, index, from, more)
}

// delta sends member name of from, where it is not empty, as kind.delta.
func (it item) delta(kind, name, index string, from gjson.Result) {
	if whole := rawjson.String(from.Get(name)); whole != `""` {
		it.s.emit(kind+".delta", it.place()+index+`,"delta":`+whole+logprobs(kind, from))
	}
}

// done sends member name of from, and more, as kind.done.
func (it item) done(kind, name, index string, from gjson.Result, more string) {
	it.s.emit(kind+".done", it.place()+index+`,"`+name+`":`+rawjson.String(from.Get(name))+logprobs(kind, from)+more)
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
	it.s.emit(kind+"part.added", it.place()+index+`,"part":`+rawjson.Edited(part, rawjson.Set("text", `""`)))
	it.text(kind+"text", "text", index, part, "")
	it.s.emit(kind+"part.done", it.place()+index+`,"part":`+part.Raw)
}

func (it item) content(index string, part gjson.Result) {
	it.s.emit("response.content_part.added", it.place()+index+`,"part":`+rawjson.Edited(part, rawjson.Change("text", `""`),
		rawjson.Change("refusal", `""`), rawjson.Change("annotations", "[]"), rawjson.Change("logprobs", "[]")))
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
	for i, a := range rawjson.Elements(part.Get("annotations")) {
		if it.s.Full() {
			return
		}
		it.s.emit(outputText+".annotation.added",
			it.place()+index+`,"annotation_index":`+strconv.Itoa(i)+`,"annotation":`+a.Raw)
	}
}
