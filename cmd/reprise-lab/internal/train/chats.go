package train

import (
	"encoding/json"
	"strings"

	"reprise/internal/traffic"
)

// chats makes conversations of a log of chat requests. Each request repeats the turns before it, so that requests with one beginning are
// branches of one tree: a turn goes on if a request has another turn of the user behind it. Requests with equal system prompts and equal
// first prompts are one conversation, because the log does not separate them.
type chats struct {
	all   []traffic.Conversation
	trees map[string]int   // by the system prompt and the first prompt
	turns []map[branch]int // of each tree
}

type branch struct {
	parent int
	text   string
}

// add reports whether body has a prompt of a user.
func (c *chats) add(body []byte) bool {
	var request struct{ Messages []message }
	if json.Unmarshal(body, &request) != nil {
		return false
	}
	var system strings.Builder
	tree, at := -1, -1
	for _, m := range request.Messages {
		text := m.text()
		switch {
		case m.Role == "assistant" && at >= 0:
			c.all[tree].Turns[at].Answer = text
		case m.Role == "system" || m.Role == "developer":
			system.WriteString(text + "\x00")
		case m.Role == "user" && strings.TrimSpace(text) != "":
			if tree < 0 {
				tree = c.tree(system.String() + "\x01" + text)
			}
			at = c.turn(tree, branch{at, text})
		}
	}
	return tree >= 0
}

// tree is the number of the conversation with a name.
func (c *chats) tree(name string) int {
	n, ok := c.trees[name]
	if !ok {
		if c.trees == nil {
			c.trees = map[string]int{}
		}
		n = len(c.all)
		c.trees[name] = n
		c.all = append(c.all, traffic.Conversation{})
		c.turns = append(c.turns, map[branch]int{})
	}
	return n
}

// turn is the number of a turn of a conversation.
func (c *chats) turn(tree int, b branch) int {
	at, ok := c.turns[tree][b]
	if !ok {
		at = len(c.all[tree].Turns)
		c.turns[tree][b] = at
		c.all[tree].Turns = append(c.all[tree].Turns, traffic.Turn{Text: b.text, Parent: b.parent})
	}
	return at
}

// message is one of a chat request.
type message struct {
	Role    string
	Content json.RawMessage
}

// text is the content, or the texts of its parts.
func (m *message) text() string {
	var whole string
	if json.Unmarshal(m.Content, &whole) == nil {
		return whole
	}
	var parts []struct{ Text string }
	if json.Unmarshal(m.Content, &parts) != nil {
		return ""
	}
	var all []string
	for _, p := range parts {
		if p.Text != "" {
			all = append(all, p.Text)
		}
	}
	return strings.Join(all, "\n")
}
