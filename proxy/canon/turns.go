package canon

import (
	"crypto/sha256"
	"strings"
)

// role is the side of the conversation that a message is on.
type role uint8

const (
	user   role = iota
	system      // system or developer
	reply       // the assistant, its tool calls and thoughts
	result      // outputs of tools
	other
)

// exactOnly is why a request that ends with a message of this side is matched exactly only.
func (r role) exactOnly() string {
	switch r {
	case reply:
		return "prefill"
	case result:
		return "tool-result"
	}
	return "role"
}

// phase is where the walk through a conversation stands.
type phase uint8

const (
	preamble phase = iota
	asking
	answering
)

// walk goes through a conversation once. buf holds the canonical bytes since the last change of phase.
type walk struct {
	*parser
	phase phase
	last  role
	base  Hash
	state Hash   // of the chain before the turn at hand
	turn  Turn   // the turn at hand
	first uint32 // the first message of this phase
	count int    // messages in this phase
}

// readConversation reads messages or input; buf holds the base so far.
func (p *parser) readConversation() *Error {
	switch {
	case p.is(p.convo, array) && (p.req.Family != Chat || p.nodes[p.convo].end > 0):
	case p.req.Family == Chat:
		return p.missing(p.convo, p.field, "must be an array with at least one message")
	case p.is(p.convo, text):
		p.readInputString()
		return nil
	case p.given(p.convo):
		return p.missing(p.convo, p.field, "must be a string or an array of items")
	}
	w := walk{parser: p}
	if err := w.messages(); err != nil {
		return err.under([]byte(p.field))
	}
	w.finish()
	return nil
}

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

// seal hashes the bytes in buf and empties it.
func (p *parser) seal() Hash {
	h := sha256.Sum256(p.buf)
	p.buf = p.buf[:0]
	return h
}

func (p *parser) setPrompt(s string) {
	if strings.TrimSpace(s) == "" {
		p.note(&p.req.Uncacheable, "empty-prompt")
		p.note(&p.req.ExactOnly, "no-prompt")
		return
	}
	p.req.Prompt = s
}

func (w *walk) messages() *Error {
	if !w.is(w.convo, array) {
		return nil
	}
	index := 0
	for i := w.convo + 1; i < w.nodes[w.convo].next; i = w.nodes[i].next {
		r, err := w.roleOf(i)
		if err != nil {
			return err.at(index)
		}
		w.message(i, r)
		index++
	}
	return nil
}

// message takes message i. Asks are what users say, and system messages after the preamble: the ones before the first
// user message belong to the base.
func (w *walk) message(i uint32, r role) {
	asks := r == user || r == system && w.phase != preamble
	switch {
	case asks && w.phase != asking:
		w.openAsk(i)
	case !asks && w.phase == asking:
		w.closeAsk(i)
	}
	w.last = r
	w.count++
	w.buf = w.appendMessage(w.buf, i)
}

func (w *walk) enter(ph phase, i uint32) { w.phase, w.first, w.count = ph, i, 0 }

func (w *walk) openAsk(i uint32) {
	if w.phase == preamble {
		w.base = w.seal()
		w.state = w.base
	} else {
		w.closeAnswer()
	}
	w.enter(asking, i)
}

func (w *walk) closeAsk(i uint32) {
	ask := w.seal()
	w.turn = Turn{Key: chain(tagKey, w.state, ask), Ask: ask}
	w.enter(answering, i)
}

func (w *walk) closeAnswer() {
	if w.count == 1 && w.last == reply {
		w.turn.AnswerText = w.answerText(w.first)
	}
	w.turn.Answer = w.seal()
	w.state = chain(tagState, w.turn.Key, w.turn.Answer)
	w.req.Turns = append(w.req.Turns, w.turn)
}

// finish closes the phase that the conversation ends in.
func (w *walk) finish() {
	switch w.phase {
	case preamble:
		w.base = w.seal()
		w.req.Scope, w.req.Key = w.base, chain(tagNoTurn, w.base, Hash{})
		w.note(&w.req.ExactOnly, "no-prompt")
	case asking:
		first := w.first
		w.closeAsk(0)
		w.req.Key = w.turn.Key
		w.readPrompt(first)
	case answering:
		w.closeAnswer()
		w.req.Scope, w.req.Key = w.base, w.state
		w.note(&w.req.ExactOnly, w.last.exactOnly())
	}
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
}

func (r *rest) parts(content uint32) {
	for i := content + 1; i < r.nodes[content].next; i = r.nodes[i].next {
		t := r.partText(i)
		if t == 0 {
			r.buf, r.extra, r.media = r.appendValue(r.buf, i), true, true
			continue
		}
		r.texts = append(r.texts, string(r.text(t)))
		r.buf = append(r.buf, tagText)
		for _, m := range r.members(i) {
			if name := string(r.text(m)); name != "type" && name != "text" {
				r.buf, r.extra = r.appendMember(r.buf, m), true
			}
		}
	}
}
