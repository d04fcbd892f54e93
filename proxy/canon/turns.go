package canon

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
		return p.bad(0, p.convo, p.field, "must be an array with at least one message")
	case p.is(p.convo, text):
		p.readInputString()
		return nil
	case p.given(p.convo):
		return p.bad(0, p.convo, p.field, "must be a string or an array of items")
	}
	w := walk{parser: p}
	if err := w.messages(); err != nil {
		return err.under([]byte(p.field))
	}
	w.finish()
	return nil
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
