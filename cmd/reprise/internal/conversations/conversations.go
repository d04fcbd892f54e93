// Package conversations reads recorded conversations of several formats and gives back what the user said in them.
package conversations

import "encoding/json"

// Conversation is the user's side of one talk with an assistant. It is a tree where the record has branches; most are a
// plain list.
type Conversation struct {
	System string          // instruction at the start; empty: none
	Tools  json.RawMessage // of a chat request; nil: none
	Turns  []Turn
	Topic  string // label that the record gives; empty: none

	// Body is a complete chat request, to be sent byte for byte. Everything else is empty then.
	Body []byte
}

// Turn is one message of the user.
type Turn struct {
	Text   string
	Parent int // index of the turn whose answer it follows; -1 starts the talk
	Reply  int // bytes of the recorded answer, of several that of the first; 0: not known
}

// Say appends a turn that follows the last one.
func (c *Conversation) Say(text string) {
	c.Turns = append(c.Turns, Turn{Text: text, Parent: len(c.Turns) - 1})
}

// answer notes the answer to turn i, of which only the length matters; -1 is no turn.
func (c *Conversation) answer(i int, text string) {
	if i >= 0 && c.Turns[i].Reply == 0 {
		c.Turns[i].Reply = len(text)
	}
}
