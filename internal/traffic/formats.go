package traffic

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// ErrFormat is wrapped by the error for a file of no known format.
var ErrFormat = errors.New("no known format")

// Format is a file format.
type Format string

// The formats of conversations.
const (
	// OASST has the conversations of OpenAssistant's OASST1: one message a line, or one tree.
	OASST Format = "oasst"
	// SGD has the dialogues of Schema-Guided Dialogue.
	SGD Format = "sgd"
	// ShareGPT has conversations as lists of "human" and "gpt" messages.
	ShareGPT Format = "sharegpt"
	// Chat has bodies of chat completion requests.
	Chat Format = "chat"
)

// conversationParser turns records into conversations. What it returns shares no memory with the record.
type conversationParser interface {
	add(record []byte) ([]Conversation, error)
	// end returns the conversations that only the end of the file completes.
	end() []Conversation
}

// conversationFormat is one layout of conversations.
type conversationFormat struct {
	name   Format
	title  string   // for people
	layout string   // "" where the format has only one
	wants  string   // example of a record
	fields []string // whose presence identifies the format
	parser func() conversationParser
}

// String returns the title for error messages.
func (f *conversationFormat) String() string { return strings.TrimSpace(f.title + " " + f.layout) }

var conversationFormats = []conversationFormat{
	{Chat, "chat requests", "", `{"model":…,"messages":[…]}`, []string{"messages"}, each(parseBody)},
	{SGD, "SGD", "", `{"turns":[["U","…"],["S","…"],…]}`, []string{"turns"}, each(parseSGD)},
	{ShareGPT, "ShareGPT", "", `{"conversations":[{"from":"human","value":"…"},…]}`, []string{"conversations"}, each(parseShareGPT)},
	{OASST, "OASST1", "trees", `{"message_tree_id":…,"prompt":{"role":"prompter","text":"…","replies":[…]}}`,
		[]string{"prompt", "message_tree_id"}, each(parseTree)},
	{OASST, "OASST1", "messages", `{"idx":0,"tree":0,"parent_idx":null,"role":"prompter","text":"…"}`,
		[]string{"idx", "tree", "role"}, newFlat},
	{OASST, "OASST1", "published messages", `{"message_id":"…","parent_id":null,"message_tree_id":"…","role":"prompter","text":"…"}`,
		[]string{"message_id", "message_tree_id", "role"}, newFlat},
}

// detectConversation identifies the format by the names of a record's fields; nil is none.
func detectConversation(record []byte) *conversationFormat {
	var fields map[string]json.RawMessage
	if json.Unmarshal(record, &fields) != nil {
		return nil
	}
	for i, f := range conversationFormats {
		all := true
		for _, name := range f.fields {
			_, ok := fields[name]
			all = all && ok
		}
		if all {
			return &conversationFormats[i]
		}
	}
	return nil
}

// describeConversations lists the formats with an example of each.
func describeConversations() string {
	var all []string
	for _, f := range conversationFormats {
		all = append(all, f.String()+" "+f.wants)
	}
	return strings.Join(all, ", or ")
}

var (
	errJSON   = errors.New("not such JSON")
	errNoUser = errors.New("nothing that a user said")
)

// each makes parsers of a format in which one record is one conversation.
func each(parse func([]byte) (Conversation, error)) func() conversationParser {
	return func() conversationParser { return single(parse) }
}

type single func([]byte) (Conversation, error)

func (parse single) add(record []byte) ([]Conversation, error) {
	c, err := parse(record)
	if err == nil && len(c.Turns) == 0 && c.Body == nil {
		err = errNoUser
	}
	if err != nil {
		return nil, err
	}
	return []Conversation{c}, nil
}

func (single) end() []Conversation { return nil }

func parseBody(record []byte) (c Conversation, err error) {
	var body struct{ Messages []json.RawMessage }
	if json.Unmarshal(record, &body) != nil {
		return c, errJSON
	}
	if len(body.Messages) == 0 {
		return c, errNoUser
	}
	c.Body = bytes.Clone(record)
	return c, nil
}

func parseSGD(record []byte) (c Conversation, err error) {
	var dialogue struct {
		Services []string
		Turns    [][2]string
	}
	if json.Unmarshal(record, &dialogue) != nil {
		return c, errJSON
	}
	c.Topic = strings.Join(dialogue.Services, "+")
	for _, t := range dialogue.Turns {
		if t[0] == "U" {
			c.sayUnlessBlank(t[1])
		} else {
			c.answer(len(c.Turns)-1, t[1])
		}
	}
	return c, nil
}

func parseShareGPT(record []byte) (c Conversation, err error) {
	var dialogue struct {
		Conversations []struct{ From, Value string }
	}
	if json.Unmarshal(record, &dialogue) != nil {
		return c, errJSON
	}
	for _, m := range dialogue.Conversations {
		switch m.From {
		case "human", "user":
			c.sayUnlessBlank(m.Value)
		case "gpt", "assistant":
			c.answer(len(c.Turns)-1, m.Value)
		case "system":
			c.System = m.Value
		}
	}
	return c, nil
}

func (c *Conversation) sayUnlessBlank(text string) {
	if strings.TrimSpace(text) != "" {
		c.Say(text)
	}
}
