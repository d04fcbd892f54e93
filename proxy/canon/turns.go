package canon

// phase is where the walk through a conversation stands.
type phase uint8

const (
	preamble phase = iota
	asking
	answering
)

// walk goes through a conversation once. buf holds the canonical bytes since the last change of phase.
type walk struct {
	list
	phase phase
	last  Role
	base  Hash
	state Hash   // of the chain before the turn at hand
	turn  Turn   // the turn at hand
	first uint32 // the first message of this phase
	count int    // messages in this phase
}

// maxMessages is how many messages a conversation may have.
const maxMessages = 100_000

// Messages reads a conversation that is a list of messages; one that is absent has none.
func (p *Reader) Messages(messages Value, rules Messages) *Error {
	if n := messages.Len(); n > maxMessages {
		return refuse(codeSize, p.offset(messages.i), "has %d messages; at most %d are allowed", n, maxMessages).under([]byte(p.rules.Field))
	}
	p.openSegments(messages.Len())
	w := walk{list: list{p, rules}}
	w.numberLinks(messages.i)
	if err := w.read(messages.i); err != nil {
		return err.under([]byte(p.rules.Field))
	}
	w.finish()
	return nil
}

func (w *walk) read(messages uint32) *Error {
	index, end := 0, 0
	for i := range w.elements(messages) {
		if index == 0 {
			end = w.end(messages, 0, w.spaceBefore(len(w.body)))
		}
		if !w.is(i, object) {
			return refuse(codeType, w.offset(i), "must be an object").at(index)
		}
		role, err := w.rules.Role(w.Reader, w.value(i))
		if err != nil {
			return err.at(index)
		}
		w.message(i, role)
		kind := SegmentMessage
		if role == RoleSystem && w.phase == preamble {
			kind = SegmentSystem
		}
		w.addSegment(kind, i, messages, end)
		index++
	}
	return nil
}

// message takes message i. Asks are what users say, and system messages after the preamble: the ones before the first
// user message belong to the base.
func (w *walk) message(i uint32, role Role) {
	asks := role == RoleUser || role == RoleSystem && w.phase != preamble
	switch {
	case asks && w.phase != asking:
		w.openAsk(i)
	case !asks && w.phase == asking:
		w.closeAsk(i)
	}
	w.last = role
	w.count++
	w.buf = w.appendMessage(w.buf, i, role)
}

func (w *walk) enter(ph phase, i uint32) { w.phase, w.first, w.count = ph, i, 0 }

func (w *walk) openAsk(i uint32) {
	if w.phase == preamble {
		w.sealBase()
		w.state = w.base
	} else {
		w.closeAnswer()
	}
	w.enter(asking, i)
}

// sealBase ends the base behind the preamble.
func (w *walk) sealBase() {
	if w.count > 0 {
		w.mark(w.fields, atPreamble)
	}
	w.base = w.seal()
}

func (w *walk) closeAsk(i uint32) {
	ask := w.seal()
	w.turn = Turn{Key: chain(tagKey, w.state, ask), Ask: ask}
	w.enter(answering, i)
}

func (w *walk) closeAnswer() {
	if w.count == 1 && w.last == RoleAssistant {
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
		w.sealBase()
		w.req.Scope, w.req.Key = w.base, chain(tagNoTurn, w.base, Hash{})
		w.SetExactOnly("no-prompt")
	case asking:
		first := w.first
		w.closeAsk(0)
		w.req.Ask = w.turn.Ask
		w.req.Key = w.turn.Key
		w.readPrompt(first)
	case answering:
		w.closeAnswer()
		w.req.Scope, w.req.Key = w.base, w.state
		w.SetExactOnly(w.last.exactOnly())
	}
}
