package canon

import "strings"

// readInputString reads an input that stands for one message of the user.
func (p *parser) readInputString() {
	p.req.Scope = p.seal()
	s := p.text(p.convo)
	p.buf = append(appendText(appendText(append(p.buf, tagMsg), "user"), s), tagEnd)
	p.req.Key = chain(tagKey, p.req.Scope, p.seal())
	p.setPrompt(string(s))
}

// readSingle reads the prompt of a completion or the input of embeddings; buf holds the base.
func (p *parser) readSingle() *Error {
	p.req.Scope = p.seal()
	v := p.convo
	if p.is(v, array) && p.nodes[v].end == 1 && p.is(v+1, text) {
		v++ // an array of one string is that string
	}
	if v != 0 {
		p.buf = p.appendValue(p.buf, v)
	}
	p.req.Key = chain(tagKey, p.req.Scope, p.seal())
	switch {
	case p.req.Family == Embeddings:
		p.req.ExactOnly = "embeddings"
	case p.is(v, text):
		p.setPrompt(string(p.text(v)))
	case !p.is(v, array) || p.nodes[v].end == 0:
		p.req.ExactOnly = "no-prompt"
	case p.is(v+1, text):
		p.req.ExactOnly = "batch"
	default:
		p.req.ExactOnly = "tokens"
	}
	return nil
}

func (p *parser) setPrompt(s string) {
	if strings.TrimSpace(s) == "" {
		p.note(&p.req.Uncacheable, "empty-prompt")
		p.note(&p.req.ExactOnly, "no-prompt")
		return
	}
	p.req.Prompt = s
}

// readPrompt reads the last ask, which begins at message first: its users' text is the prompt, and everything else in it
// becomes a part of the scope.
func (w *walk) readPrompt(first uint32) {
	rest := rest{parser: w.parser}
	for i := first; i < w.nodes[w.convo].next; i = w.nodes[i].next {
		rest.message(i)
	}
	w.req.Scope = w.base
	if rest.extra {
		w.req.Scope = chain(tagScope, w.base, w.seal())
	}
	w.buf = w.buf[:0]
	switch prompt := rest.prompt(); {
	case rest.users == 0:
		w.note(&w.req.ExactOnly, "no-prompt")
	case rest.media && strings.TrimSpace(prompt) == "":
		w.note(&w.req.ExactOnly, "media")
	default:
		w.setPrompt(prompt)
	}
}

// rest parts the text of an ask from the rest of it, which goes to buf.
type rest struct {
	*parser
	users int
	texts []string
	extra bool // there is something else than text
	media bool // there are parts other than text
}

func (r *rest) prompt() string { return strings.Join(r.texts, "\n") }

func (r *rest) message(i uint32) {
	if side, _ := r.roleOf(i); side != user {
		r.buf, r.extra = r.appendMessage(r.buf, i), true
		return
	}
	r.users++
	r.buf = append(r.buf, tagMsg)
	for _, m := range r.members(i) {
		switch name := string(r.text(m)); {
		case name == "role", r.ignores(name, m+1, user):
		case name == "content" && r.is(m+1, text):
			r.texts = append(r.texts, string(r.text(m+1)))
		case name == "content" && r.is(m+1, array):
			r.parts(m + 1)
		default:
			r.buf, r.extra = r.appendMember(r.buf, m), true
		}
	}
	r.buf = append(r.buf, tagEnd)
}

// parts marks where text stands between other parts, and closes what it opens: a part is never taken for a member.
func (r *rest) parts(content uint32) {
	r.buf = append(r.buf, tagArray)
	for i := content + 1; i < r.nodes[content].next; i = r.nodes[i].next {
		t := r.partText(i)
		if t == 0 {
			r.buf, r.extra, r.media = r.appendValue(r.buf, i), true, true
			continue
		}
		r.texts = append(r.texts, string(r.text(t)))
		r.buf = append(r.buf, tagMark)
		for _, m := range r.members(i) {
			if name := string(r.text(m)); name != "type" && name != "text" {
				r.buf, r.extra = r.appendMember(r.buf, m), true
			}
		}
		r.buf = append(r.buf, tagEnd)
	}
	r.buf = append(r.buf, tagEnd)
}
