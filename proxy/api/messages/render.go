package messages

import (
	"strconv"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
)

// script renders the events of a stream.
type script struct {
	dst  []byte
	most int // bytes of dst, after which nothing is added
}

func (s *script) full() bool { return len(s.dst) > s.most }

// emit sends one event, of parts that are joined: the raw JSON of the members behind type, each with a comma before it.
func (s *script) emit(kind string, parts ...string) {
	if s.full() {
		return
	}
	s.dst = append(append(append(s.dst, "event: "...), kind...), "\ndata: {\"type\":\""...)
	s.dst = append(append(s.dst, kind...), '"')
	for _, p := range parts {
		s.dst = append(s.dst, p...)
	}
	s.dst = append(s.dst, "}\n\n"...)
}

// Render renders the events that would have led to a message: its beginning, each block with one fragment, and its end.
func (streams) Render(r gjson.Result) []byte {
	s := &script{most: answer.MostRendered(r)}
	usage := r.Get("usage")
	s.emit("message_start", `,"message":`, edited(r, append(present(r, rawjson.Set("content", "[]"), rawjson.Set("stop_reason", "null"),
		rawjson.Set("stop_sequence", "null"), rawjson.Set("stop_details", "null"), rawjson.Set("container", "null"),
		rawjson.Set("context_management", "null")), beginning(usage)...)...))
	for i, b := range rawjson.Elements(r.Get("content")) {
		if s.full() {
			return nil
		}
		s.block(strconv.Itoa(i), b)
	}
	s.emit("message_delta", `,"delta":`, only(r, "stop_reason", "stop_sequence", "stop_details", "container"), `,"usage":`,
		only(usage, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens", "output_tokens_details", "server_tool_use"),
		memberOf(r, "context_management"))
	s.emit("message_stop")
	if s.full() {
		return nil
	}
	return s.dst
}

// block sends a block from its empty beginning to its end.
func (s *script) block(index string, b gjson.Result) {
	at := `,"index":` + index
	begin := func(empty ...rawjson.Edit) {
		s.emit("content_block_start", at, `,"content_block":`, edited(b, present(b, empty...)...))
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
		if citations.IsArray() {
			begin(rawjson.Set("text", `""`), rawjson.Set("citations", "[]"))
		} else {
			begin(rawjson.Set("text", `""`))
		}
		grow("text_delta", "text")
		for _, c := range rawjson.Elements(citations) {
			delta("citations_delta", "citation", c.Raw)
		}
	case "thinking":
		begin(rawjson.Set("thinking", `""`), rawjson.Set("signature", `""`))
		grow("thinking_delta", "thinking")
		grow("signature_delta", "signature")
	case "tool_use", "server_tool_use", "mcp_tool_use":
		if !input.IsObject() {
			begin()
			break
		}
		begin(rawjson.Set("input", "{}"))
		delta("input_json_delta", "partial_json", rawjson.Quote(input.Raw))
	default:
		begin()
	}
	s.emit("content_block_stop", at)
}

// beginning is the usage at the beginning of a message, where nothing has been generated yet.
func beginning(usage gjson.Result) []rawjson.Edit {
	if !usage.Get("output_tokens").Exists() {
		return nil
	}
	return []rawjson.Edit{rawjson.Set("usage", edited(usage, rawjson.Set("output_tokens", "0")))}
}

// edited is object r with edits applied, as a string.
func edited(r gjson.Result, edits ...rawjson.Edit) string {
	return string(rawjson.AppendEdited(nil, r, edits...))
}

// present returns those edits whose member r has.
func present(r gjson.Result, edits ...rawjson.Edit) (of []rawjson.Edit) {
	for _, e := range edits {
		if r.Get(e.Name()).Exists() {
			of = append(of, e)
		}
	}
	return of
}

// only is object r with the members that names has alone.
func only(r gjson.Result, names ...string) string {
	dst := []byte{'{'}
	for _, name := range names {
		if v := r.Get(name); v.Exists() {
			dst = rawjson.AppendMember(dst, 1, `"`+name+`"`, v.Raw)
		}
	}
	return string(append(dst, '}'))
}

// memberOf is member name of r with a comma before it, "" where r has none.
func memberOf(r gjson.Result, name string) string {
	if v := r.Get(name); v.Exists() {
		return `,"` + name + `":` + v.Raw
	}
	return ""
}
