package dialect

// leastBytes is how many bytes of text a token has at least in a prefix that is worth a mark: below a provider's minimum, a mark has no
// effect. English has about 4, other scripts less.
const leastBytes = 2

// breakpoint marks the end of the scaffold with a field of that value, in the last block of the system prompt, or else in the last tool.
// It reports whether there is such a place, and the scaffold is not too short for minimum tokens. A text that is no list of blocks becomes
// one, of the given type: the text itself stays as it is.
func (e *editor) breakpoint(field Field, value, blockType string, minimum int) bool {
	if e.quarantined(field) {
		return false
	}
	content, size := e.system(field == cacheControl)
	tools, hasTools := e.member("tools")
	if hasTools {
		size += tools.end - tools.start
	}
	mark := mark{string(field), value, blockType}
	switch {
	case size < minimum*leastBytes:
		return false
	case content.end > content.start:
		if !e.mark(content, mark) {
			return false
		}
	case !hasTools || field != cacheControl || !e.markLast(tools, mark, "defer_loading"): // OpenAI's tools have no mark
		return false
	}
	e.edits.Added = append(e.edits.Added, field)
	return true
}

// mark is the member that marks the end of a prefix.
type mark struct{ name, value, block string }

// system is the last part of the system prompt, and the size of all of it: the member system, or the content of the last message before
// the conversation.
func (e *editor) system(isMember bool) (content member, size int) {
	if isMember {
		m, _ := e.member("system")
		return m, m.end - m.start
	}
	list, has := e.member("messages")
	if !has {
		list, has = e.member("input")
	}
	if m, hasMore := e.member("instructions"); hasMore {
		size += m.end - m.start
	}
	if !has {
		return content, size
	}
	s := scan(e.Body, list.start)
	for m, ok := s.next(); ok; m, ok = s.next() {
		in, isSystem := e.systemContent(m)
		if !isSystem {
			break
		}
		content = in
		size += m.end - m.start
	}
	return content, size
}

// systemContent is the content of a message of the roles system and developer.
func (e *editor) systemContent(message member) (content member, isSystem bool) {
	s := scan(e.Body, message.start)
	for m, ok := s.next(); ok; m, ok = s.next() {
		switch string(m.name) {
		case "role":
			role := string(e.Body[m.start:m.end])
			isSystem = role == `"system"` || role == `"developer"`
		case "content":
			content = m
		}
	}
	return content, isSystem
}

// mark marks the end of a content, which is a text or a list of blocks. An empty text cannot be marked.
func (e *editor) mark(content member, with mark) bool {
	switch e.Body[content.start] {
	case '"':
		if content.end == content.start+len(`""`) {
			return false
		}
		e.patches = append(e.patches, patch{at: content.start, text: `[{"type":"` + with.block + `","text":`},
			patch{at: content.end, text: `,"` + with.name + `":` + with.value + `}]`})
		return true
	case '[':
		return e.markLast(content, with, "")
	}
	return false
}

// markLast marks the last object of a list, unless it has an empty text or the member that forbids a mark.
func (e *editor) markLast(list member, with mark, forbids string) bool {
	s := scan(e.Body, list.start)
	var last member
	for m, ok := s.next(); ok; m, ok = s.next() {
		last = m
	}
	if s.bad || s.close != ']' || last.end == 0 {
		return false
	}
	s = scan(e.Body, last.start)
	for m, ok := s.next(); ok; m, ok = s.next() {
		if string(m.name) == forbids || string(m.name) == "text" && m.end == m.start+len(`""`) {
			return false
		}
	}
	return e.within(last, with.name, with.value)
}
