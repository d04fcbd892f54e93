package anthropic

import (
	"strconv"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
)

// script renders the events of a stream.
type script struct{ *answer.Script }

// emit sends one event, of parts that are joined: the raw JSON of the members behind type, each with a comma before it.
func (s script) emit(kind string, parts ...string) {
	s.Event(kind, append(append([]string{`{"type":"`, kind, `"`}, parts...), "}")...)
}

// Render renders the events that would have led to a message: its beginning, each block with one fragment, and its end.
func (messages) Render(r gjson.Result) []byte {
	s := script{answer.NewScript(r)}
	usage := r.Get("usage")
	begun := []rawjson.Edit{rawjson.Change("content", "[]"), rawjson.Change("stop_reason", "null"), rawjson.Change("stop_sequence", "null"),
		rawjson.Change("stop_details", "null"), rawjson.Change("container", "null"), rawjson.Change("context_management", "null")}
	if usage.Get("output_tokens").Exists() { // nothing has been generated yet
		begun = append(begun, rawjson.Change("usage", rawjson.Edited(usage, rawjson.Change("output_tokens", "0"))))
	}
	s.emit("message_start", `,"message":`, rawjson.Edited(r, begun...))
	for i, b := range rawjson.Elements(r.Get("content")) {
		if s.Full() {
			return nil
		}
		s.block(strconv.Itoa(i), b)
	}
	s.emit("message_delta", `,"delta":`, only(r, "stop_reason", "stop_sequence", "stop_details", "container"), `,"usage":`,
		only(usage, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens", "output_tokens_details", "server_tool_use"),
		rawjson.Member(r, "context_management"))
	s.emit("message_stop")
	return s.Stream()
}

// block sends a block from its empty beginning to its end.
func (s script) block(index string, b gjson.Result) {
	at := `,"index":` + index
	begin := func(empty ...rawjson.Edit) {
		s.emit("content_block_start", at, `,"content_block":`, rawjson.Edited(b, empty...))
	}
	delta := func(kind, name, raw string) {
		s.emit("content_block_delta", at, `,"delta":{"type":"`, kind, `","`, name, `":`, raw, "}")
	}
	grow := func(kind, name string) {
		if raw := rawjson.String(b.Get(name)); raw != `""` {
			delta(kind, name, raw)
		}
	}
	switch input, citations := b.Get("input"), b.Get("citations"); b.Get("type").Str {
	case "text":
		empty := []rawjson.Edit{rawjson.Change("text", `""`)}
		if citations.IsArray() {
			empty = append(empty, rawjson.Change("citations", "[]"))
		}
		begin(empty...)
		grow("text_delta", "text")
		for _, c := range rawjson.Elements(citations) {
			delta("citations_delta", "citation", c.Raw)
		}
	case "thinking":
		begin(rawjson.Change("thinking", `""`), rawjson.Change("signature", `""`))
		grow("thinking_delta", "thinking")
		grow("signature_delta", "signature")
	case "tool_use", "server_tool_use", "mcp_tool_use":
		if !input.IsObject() {
			begin()
			break
		}
		begin(rawjson.Change("input", "{}"))
		delta("input_json_delta", "partial_json", rawjson.Quote(input.Raw))
	default:
		begin()
	}
	s.emit("content_block_stop", at)
}

// only returns object r with no other members than names, in their order.
func only(r gjson.Result, names ...string) string {
	dst := []byte{'{'}
	for _, name := range names {
		if v := r.Get(name); v.Exists() {
			dst = rawjson.AppendMember(dst, 1, `"`+name+`"`, v.Raw)
		}
	}
	return string(append(dst, '}'))
}
