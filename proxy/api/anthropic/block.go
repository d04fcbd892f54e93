package anthropic

import (
	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
)

// block is one block of a message that grows.
type block struct {
	*rawjson.Object
	kind      string
	input     rawjson.Tree // the fragments of a call's arguments, as a string that is JSON
	citations []byte       // of a text, with a comma before each
}

// newBlock returns a block with the members that it begins with.
func newBlock(content gjson.Result) *block {
	b := &block{Object: new(rawjson.Object), kind: content.Get("type").Str}
	b.input.Set(`""`)
	content.ForEach(func(k, v gjson.Result) bool {
		b.Member(k.Str, k.Raw).Set(v.Raw)
		return true
	})
	for _, c := range rawjson.Elements(content.Get("citations")) {
		b.citations = append(append(b.citations, ','), c.Raw...)
	}
	return b
}

// add adds a delta. ErrMalformed where it is of another kind than the block, or unknown.
func (b *block) add(delta gjson.Result, g *rawjson.Growth) error {
	var of [6]gjson.Result
	rawjson.Members(delta, of[:], "type", "text", "thinking", "signature", "partial_json", "citation")
	kind, text, thinking, signature, input, citation := of[0].Str, of[1], of[2], of[3], of[4], of[5]
	switch {
	case kind == "text_delta" && b.kind == "text":
		return grow(b.Member("text", `"text"`), text, g)
	case kind == "thinking_delta" && b.kind == "thinking":
		return grow(b.Member("thinking", `"thinking"`), thinking, g)
	case kind == "input_json_delta" && b.calls():
		return grow(&b.input, input, g)
	case kind == "signature_delta" && b.kind == "thinking" && signature.Type == gjson.String:
		b.Member("signature", `"signature"`).Replace(signature)
		return nil
	case kind == "citations_delta" && b.kind == "text" && citation.IsObject():
		b.citations = append(append(b.citations, ','), citation.Raw...)
		return nil
	}
	return answer.ErrMalformed
}

// grow adds a fragment to a text.
func grow(tree *rawjson.Tree, text gjson.Result, g *rawjson.Growth) error {
	if text.Type != gjson.String {
		return answer.ErrMalformed
	}
	tree.Add(text, g)
	return nil
}

// calls reports whether the block is a call of a tool.
func (b *block) calls() bool {
	return b.kind == "tool_use" || b.kind == "server_tool_use" || b.kind == "mcp_tool_use"
}

// end completes the block.
func (b *block) end() error {
	if len(b.citations) > 0 {
		b.Member("citations", `"citations"`).Set("[" + string(b.citations[1:]) + "]")
	}
	arguments := gjson.ParseBytes(b.input.Raw()).String()
	if arguments == "" {
		return nil
	}
	r, err := answer.Parse([]byte(arguments))
	if err != nil {
		return err
	}
	b.Member("input", `"input"`).Set(r.Raw)
	return nil
}
