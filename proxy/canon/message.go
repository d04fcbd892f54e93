package canon

import (
	"bytes"
	"crypto/sha256"
)

// roleOf tells the side of a message, or of an item of the Responses API.
func (p *parser) roleOf(i uint32) (role, *Error) {
	if !p.is(i, object) {
		return other, refuse(CodeType, p.offset(i), "must be an object")
	}
	if !p.isMessage(i) {
		return p.itemRole(i)
	}
	v := p.member(i, "role")
	if !p.is(v, text) {
		return other, p.bad(i, v, "role", `must be a string, e.g. "user"`)
	}
	switch string(p.text(v)) {
	case "user":
		return user, nil
	case "system", "developer":
		return system, nil
	case "assistant":
		return reply, nil
	case "tool", "function":
		return result, nil
	}
	return other, nil
}

// isMessage tells whether an item is a message; all are but for the Responses API, where type says so.
func (p *parser) isMessage(i uint32) bool {
	if p.req.Family != Responses {
		return true
	}
	t := p.member(i, "type")
	return !p.given(t) || p.isText(t, "message")
}

// itemRole tells the side of an item that is no message.
func (p *parser) itemRole(i uint32) (role, *Error) {
	t := p.member(i, "type")
	if !p.is(t, text) {
		return other, p.bad(i, t, "type", "must be a string")
	}
	switch s := p.text(t); {
	case string(s) == "item_reference":
		p.note(&p.req.Uncacheable, "server-state")
		return other, nil
	case bytes.HasSuffix(s, []byte("_output")), bytes.HasSuffix(s, []byte("_response")):
		return result, nil
	}
	return reply, nil
}

// ignores tells whether a member of a message is no part of the key: in the Responses API a type that only says that it
// is a message, and the id of a reply, which is made anew with every answer and stands for nothing once the reply is sent
// back in full.
func (p *parser) ignores(name string, v uint32, r role) bool {
	if p.req.Family != Responses {
		return false
	}
	return name == "type" || name == "id" && r == reply && p.is(v, text)
}

// appendMessage writes a message's canonical form: role, content, and the other members by name.
func (p *parser) appendMessage(dst []byte, i uint32) []byte {
	if !p.isMessage(i) {
		return p.appendValue(dst, i)
	}
	r, _ := p.roleOf(i)
	dst = p.appendValue(append(dst, tagMsg), p.member(i, "role"))
	if content := p.member(i, "content"); content != 0 {
		dst = p.appendValue(dst, p.plainContent(content))
	} else {
		dst = append(dst, tagNone)
	}
	for _, m := range p.members(i) {
		name := string(p.text(m))
		if name != "role" && name != "content" && !p.ignores(name, m+1, r) {
			dst = p.appendMember(dst, m)
		}
	}
	return append(dst, tagEnd)
}

// plainContent is the text of a content that is exactly one part of nothing but text, else the content itself.
func (p *parser) plainContent(v uint32) uint32 {
	if p.is(v, array) && p.nodes[v].end == 1 && p.nodes[v+1].kind == object && p.nodes[v+1].end == 2 {
		if t := p.partText(v + 1); t != 0 {
			return t
		}
	}
	return v
}

// partText is the text of a part of a content, 0 when the part is not of text.
func (p *parser) partText(part uint32) uint32 {
	kind, t := p.member(part, "type"), p.member(part, "text")
	if !p.is(kind, text) || !p.is(t, text) {
		return 0
	}
	switch string(p.text(kind)) {
	case "text":
		if p.req.Family == Chat {
			return t
		}
	case "input_text", "output_text":
		if p.req.Family == Responses {
			return t
		}
	}
	return 0
}

// answerText hashes the text of a reply that is nothing but text, else it is zero. What clients send back of an answer
// without meaning more than its text (empty lists, null, its id and state) does not count.
func (p *parser) answerText(i uint32) Hash {
	if !p.isMessage(i) {
		return Hash{}
	}
	for _, m := range p.members(i) {
		switch string(p.text(m)) {
		case "role", "content", "type", "id", "phase":
		case "status":
			if !p.isText(m+1, "completed") {
				return Hash{}
			}
		default:
			if !p.isBlank(m + 1) {
				return Hash{}
			}
		}
	}
	if t := p.onlyText(p.member(i, "content")); t != 0 {
		return sha256.Sum256(p.text(t))
	}
	return Hash{}
}

// onlyText is the text of a content that is a string or one part of text.
func (p *parser) onlyText(content uint32) uint32 {
	if p.is(content, text) {
		return content
	}
	if !p.is(content, array) || p.nodes[content].end != 1 || p.partText(content+1) == 0 {
		return 0
	}
	for _, m := range p.members(content + 1) {
		if name := string(p.text(m)); name != "type" && name != "text" && !p.isBlank(m+1) {
			return 0
		}
	}
	return p.partText(content + 1)
}

// isBlank tells whether a value is null or an empty array.
func (p *parser) isBlank(v uint32) bool {
	return !p.given(v) || p.is(v, array) && p.nodes[v].end == 0
}
