package canon

import (
	"bytes"
	"slices"
	"strings"
)

// UserMessage reads a conversation that is a string: it equals one message of the user.
func (p *Reader) UserMessage(s Value) {
	p.openSegments(1)
	p.addMember(SegmentMessage, s.i)
	p.req.Scope = p.seal()
	p.buf = append(appendText(appendText(append(p.buf, tagMsg), "user"), s.Text()), tagEnd)
	p.req.Ask = p.seal()
	p.req.Key = chain(tagKey, p.req.Scope, p.req.Ask)
	p.SetPrompt(s)
}

// Whole reads a conversation that counts as it is, without turns. It returns the value that counts: an array of one
// string is that string, and where the rules have Items, an array of one list is that list.
func (p *Reader) Whole(v Value) Value {
	p.openSegments(1)
	p.addMember(SegmentMessage, v.i)
	p.req.Scope = p.seal()
	if p.rules.Items != nil {
		p.readItems(v)
	}
	if v.Len() == 1 && v.IsArray() && (v.First().IsString() || p.rules.Items != nil && p.isItem(v.First().i)) {
		v = v.First()
	}
	if v.i != 0 {
		p.buf = p.appendValue(p.buf, v.i)
	}
	p.req.Ask = p.seal()
	p.req.Key = chain(tagKey, p.req.Scope, p.req.Ask)
	return v
}

// maxItems is how many items a request may have.
const maxItems = 2048

// readItems notes the keys of the elements of v, where each has an answer of its own: they are texts or lists of tokens, and no member of the body
// may make them depend on each other.
func (p *Reader) readItems(v Value) {
	if n := v.Len(); !v.IsArray() || n < 2 || n > maxItems || p.readsTogether() {
		return
	}
	kind := p.nodes[v.First().i].kind()
	keys := make([]Hash, 0, v.Len())
	for i := range p.elements(v.i) {
		if p.nodes[i].kind() != kind || !p.isItem(i) {
			p.discard()
			return
		}
		p.buf = p.appendValue(p.buf, i)
		keys = append(keys, chain(tagKey, p.req.Scope, p.seal()))
	}
	p.req.Items = keys
}

// isItem reports whether an element is a text or a list of tokens.
func (p *Reader) isItem(i uint32) bool { return p.is(i, text) || p.is(p.value(i).First().i, number) }

// readsTogether reports whether a member is set of which it is not known that the answer to an element does not depend on the others.
func (p *Reader) readsTogether() bool {
	for _, name := range p.members(0) {
		if s := p.text(name); p.given(name+1) && !has(p.rules.Items, s) && (p.ignore == nil || !p.ignore.fields[string(s)]) {
			return true
		}
	}
	return false
}

func has(names Names, name []byte) bool { _, ok := names[string(name)]; return ok }

// SetPrompt makes a string the prompt; a blank one makes the request uncacheable.
func (p *Reader) SetPrompt(s Value) { p.setPrompt([]uint32{s.i}) }

// maxPrompt is the longest prompt in bytes. A longer one is matched exactly only, and is not held beside the body: embedders take
// less.
const maxPrompt = 64 << 10

// setPrompt makes texts, joined by line feeds, the prompt.
func (p *Reader) setPrompt(texts []uint32) {
	size := len(texts) - 1
	for _, t := range texts {
		size += len(p.text(t))
	}
	switch {
	case p.blank(texts):
		p.SetUncacheable("empty-prompt")
		p.SetExactOnly("no-prompt")
	case size > maxPrompt:
		p.SetExactOnly("long-prompt")
	case len(texts) == 1:
		p.req.Prompt = string(p.text(texts[0]))
	default:
		var prompt strings.Builder
		prompt.Grow(size)
		for i, t := range texts {
			if i > 0 {
				prompt.WriteByte('\n')
			}
			prompt.Write(p.text(t))
		}
		p.req.Prompt = prompt.String()
	}
}

// blank reports whether texts have nothing but white space.
func (d *doc) blank(texts []uint32) bool {
	return !slices.ContainsFunc(texts, func(t uint32) bool { return len(bytes.TrimSpace(d.text(t))) > 0 })
}

// readPrompt reads the last ask, which begins at message first: its users' text is the prompt, and everything else in it
// becomes a part of the scope.
func (w *walk) readPrompt(first uint32) {
	ask := ask{list: w.list}
	for i := first; i < w.nodes[w.convo].next(); i = w.nodes[i].next() {
		ask.message(i)
	}
	w.req.Scope = w.base
	if ask.extra {
		w.mark(0, atAsk)
		w.req.Scope = chain(tagScope, w.base, w.seal())
	}
	w.discard()
	switch {
	case ask.users == 0:
		w.SetExactOnly("no-prompt")
	case ask.media && w.blank(ask.texts):
		w.SetExactOnly("media")
	default:
		w.setPrompt(ask.texts)
	}
}

// ask separates the users' text of an ask from everything else in it, which goes to buf.
type ask struct {
	list
	users int
	texts []uint32
	extra bool // there is something else than text
	media bool // there are parts other than text
}

func (a *ask) message(i uint32) {
	if role, _ := a.rules.Role(a.Reader, a.value(i)); role != RoleUser {
		a.buf, a.extra = a.appendMessage(a.buf, i, role), true
		return
	}
	a.users++
	a.buf = append(a.buf, tagMsg)
	for _, m := range a.members(i) {
		switch name := a.text(m); {
		case string(name) == "role", a.rules.Ignores(name, a.value(m+1), RoleUser):
		case string(name) == "content" && a.is(m+1, text):
			a.texts = append(a.texts, m+1)
		case string(name) == "content" && a.is(m+1, array):
			a.parts(m + 1)
		default:
			a.buf, a.extra = a.appendMember(a.buf, m), true
		}
	}
	a.buf = append(a.buf, tagEnd)
}

// parts marks where text stands between other parts, and closes what it opens: a part is never taken for a member.
func (a *ask) parts(content uint32) {
	a.buf = append(a.buf, tagArray)
	for i := range a.elements(content) {
		t := a.partText(i)
		if t == 0 {
			a.buf, a.extra, a.media = a.appendValue(a.buf, i), true, true
			continue
		}
		a.texts = append(a.texts, t)
		a.buf = append(a.buf, tagMark)
		for _, m := range a.members(i) {
			if name := string(a.text(m)); name != "type" && name != "text" {
				a.buf, a.extra = a.appendMember(a.buf, m), true
			}
		}
		a.buf = append(a.buf, tagEnd)
	}
	a.buf = append(a.buf, tagEnd)
}
