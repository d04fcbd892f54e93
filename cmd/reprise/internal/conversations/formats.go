package conversations

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// parser turns records into conversations. What it returns shares no memory with the record.
type parser interface {
	add(record []byte) ([]Conversation, error)
	// end returns what only the end of the file completes.
	end() []Conversation
}

// format is one way to write conversations down.
type format struct {
	name   string
	wants  string   // what a record looks like
	fields []string // by which it is known
	parser func() parser
}

var formats = []format{
	{"chat requests", `{"model":…,"messages":[…]}`, []string{"messages"}, each(parseBody)},
	{"SGD", `{"turns":[["U","…"],["S","…"],…]}`, []string{"turns"}, each(parseSGD)},
	{"ShareGPT", `{"conversations":[{"from":"human","value":"…"},…]}`, []string{"conversations"}, each(parseShareGPT)},
	{"OASST1 trees", `{"message_tree_id":…,"prompt":{"role":"prompter","text":"…","replies":[…]}}`, []string{"prompt", "message_tree_id"}, each(parseTree)},
	{"OASST1 messages", `{"idx":0,"tree":0,"parent_idx":null,"role":"prompter","text":"…"}`, []string{"idx", "tree", "role"}, func() parser { return &messages{} }},
}

// detect finds the format by the names of a record's fields; nil is none.
func detect(record []byte) *format {
	var fields map[string]json.RawMessage
	if json.Unmarshal(record, &fields) != nil {
		return nil
	}
	for i, f := range formats {
		all := true
		for _, name := range f.fields {
			_, ok := fields[name]
			all = all && ok
		}
		if all {
			return &formats[i]
		}
	}
	return nil
}

func formatsInWords() string {
	var b strings.Builder
	for i, f := range formats {
		if i > 0 {
			b.WriteString(", or ")
		}
		fmt.Fprintf(&b, "%s %s", f.name, f.wants)
	}
	return b.String()
}

var (
	errJSON   = errors.New("not such JSON")
	errNoUser = errors.New("nothing that a user said")
)

// each makes parsers of a format in which one record is one conversation.
func each(parse func([]byte) (Conversation, error)) func() parser {
	return func() parser { return single(parse) }
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
	var talk struct {
		Conversations []struct{ From, Value string }
	}
	if json.Unmarshal(record, &talk) != nil {
		return c, errJSON
	}
	for _, m := range talk.Conversations {
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
