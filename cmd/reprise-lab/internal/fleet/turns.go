package fleet

// Turn is one request of a conversation.
type Turn struct {
	At             float64 // seconds after the first
	Conversation   uint64
	System         int // tokens of its prompt that are the system prompt
	Prompt, Answer int // tokens
}

// Turns is a trace of these requests, by their times, all of which are counted. The prompt of a turn begins with the
// one before it in the conversation; conversations share nothing.
func Turns(name string, all []Turn) *Trace {
	t := &Trace{Name: name, Unit: textUnit, Whole: true}
	for _, turn := range all {
		content := &runs{salt: turn.Conversation, unit: textUnit, tokens: turn.Prompt, scaffold: turn.System / textUnit}
		content.add(0, (turn.Prompt+textUnit-1)/textUnit)
		t.Requests = append(t.Requests, open(turn.At, turn.Prompt, turn.Answer, content))
	}
	return t
}
