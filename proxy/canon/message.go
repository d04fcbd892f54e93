package canon

import "crypto/sha256"

// list reads a conversation that is a list of messages.
type list struct {
	*Reader
	rules Messages
}

// appendMessage writes a message's canonical form: role, content, and the other members by name.
func (l *list) appendMessage(dst []byte, i uint32, role Role) []byte {
	if !l.rules.IsMessage(l.value(i)) {
		return l.appendValue(dst, i)
	}
	dst = l.appendValue(append(dst, tagMsg), l.member(i, "role"))
	if content := l.member(i, "content"); content != 0 {
		if content = l.plainContent(content); role == RoleSystem {
			dst = appendSystem(l.Reader, dst, content)
		} else {
			dst = l.appendValue(dst, content)
		}
	} else {
		dst = append(dst, tagNone)
	}
	for _, m := range l.members(i) {
		name := l.text(m)
		if string(name) != "role" && string(name) != "content" && !l.rules.Ignores(name, l.value(m+1), role) {
			dst = l.appendMember(dst, m)
		}
	}
	return append(dst, tagEnd)
}

// plainContent is the text of a content that is exactly one part of nothing but text, else the content itself.
func (l *list) plainContent(v uint32) uint32 {
	if l.is(v, array) && l.nodes[v].end == 1 && l.nodes[v+1].kind() == object && l.nodes[v+1].end == 2 {
		if t := l.partText(v + 1); t != 0 {
			return t
		}
	}
	return v
}

// partText is the text of a part of a content, 0 when the part is not text.
func (l *list) partText(part uint32) uint32 {
	kind, t := l.member(part, "type"), l.member(part, "text")
	if l.is(kind, text) && l.is(t, text) && l.rules.IsText(l.text(kind)) {
		return t
	}
	return 0
}

// answerText hashes the text of a reply that is nothing but text, else it is zero. Members that clients send back with an
// answer and that mean no more than its text (empty lists, null, its id and state) do not count.
func (l *list) answerText(i uint32) Hash {
	if !l.rules.IsMessage(l.value(i)) {
		return Hash{}
	}
	for _, m := range l.members(i) {
		switch string(l.text(m)) {
		case "role", "content", "type", "id", "phase":
		case "status":
			if !l.isText(m+1, "completed") {
				return Hash{}
			}
		default:
			if !l.isBlank(m + 1) {
				return Hash{}
			}
		}
	}
	if t := l.onlyText(l.member(i, "content")); t != 0 {
		return sha256.Sum256(l.text(t))
	}
	return Hash{}
}

// onlyText is the text of a content that is a string or one part of text.
func (l *list) onlyText(content uint32) uint32 {
	if l.is(content, text) {
		return content
	}
	if !l.is(content, array) || l.nodes[content].end != 1 || l.partText(content+1) == 0 {
		return 0
	}
	for _, m := range l.members(content + 1) {
		if name := string(l.text(m)); name != "type" && name != "text" && !l.isBlank(m+1) {
			return 0
		}
	}
	return l.partText(content + 1)
}

// isBlank reports whether a value is null or an empty array.
func (d *doc) isBlank(v uint32) bool {
	return !d.given(v) || d.is(v, array) && d.nodes[v].end == 0
}
