package traffic

import "encoding/json"

// Conversation is the user's side of one conversation with an assistant. It is a tree if the record has branches; most are
// plain lists.
type Conversation struct {
	System string          // instruction at the start; empty: none
	Tools  json.RawMessage // of a chat request; nil: none
	Turns  []Turn
	Topic  string // label of the record; empty: none

	// Body is a complete chat request, to be sent byte for byte. All other fields are empty then.
	Body []byte
}

// Turn is one message of the user.
type Turn struct {
	Text   string
	Parent int    // index of the turn whose answer it follows; -1 starts the conversation
	Answer string // as recorded, the first one if there are several; "": not known
}

// Say appends a turn that follows the last one.
func (c *Conversation) Say(text string) {
	c.Turns = append(c.Turns, Turn{Text: text, Parent: len(c.Turns) - 1})
}

// answer records the answer to turn i; -1 is no turn.
func (c *Conversation) answer(i int, text string) {
	if i >= 0 && c.Turns[i].Answer == "" {
		c.Turns[i].Answer = text
	}
}
