package traffic

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// A tree of OASST1 is one conversation with branches. Every message of a prompter is one turn, so that the part which branches
// share is asked once, as it was recorded. The parents of a turn are its path from the root.

// treeNode is a message of the original file with its replies.
type treeNode struct {
	Role, Text string
	Replies    []treeNode
}

func parseTree(record []byte) (c Conversation, err error) {
	var tree struct {
		ID     string `json:"message_tree_id"`
		Prompt treeNode
	}
	if json.Unmarshal(record, &tree) != nil {
		return c, errJSON
	}
	c.Topic = tree.ID
	c.grow(&tree.Prompt, -1)
	return c, nil
}

// grow adds a message and its replies below the turn parent. The depth of the recursion is bounded by that of the JSON.
func (c *Conversation) grow(n *treeNode, parent int) {
	parent = c.say(n.Role, n.Text, parent)
	for i := range n.Replies {
		c.grow(&n.Replies[i], parent)
	}
}

// say adds a message below the turn parent, and returns the turn at or above it.
func (c *Conversation) say(role, text string, parent int) int {
	switch {
	case role == "prompter" && strings.TrimSpace(text) != "":
		c.Turns = append(c.Turns, Turn{Text: text, Parent: parent})
		return len(c.Turns) - 1
	case role == "assistant":
		c.answer(parent, text)
	}
	return parent
}

// messages parses the flat layout: one message a record, each tree in pre-order.
type messages struct {
	tree    int64
	current Conversation
	turnOf  map[int64]int // by idx: the turn at or above a message of the current tree
}

type message struct {
	Idx    *int64 `json:"idx"`
	Tree   *int64 `json:"tree"`
	Parent *int64 `json:"parent_idx"`
	Role   string `json:"role"`
	Text   string `json:"text"`
}

var errOrphan = errors.New("parent_idx names no earlier message of the tree")

func (m *messages) add(record []byte) (done []Conversation, err error) {
	var msg message
	if json.Unmarshal(record, &msg) != nil || msg.Idx == nil || msg.Tree == nil || msg.Role == "" {
		return nil, errJSON
	}
	if *msg.Tree != m.tree || m.turnOf == nil {
		done = m.end()
		m.tree, m.current, m.turnOf = *msg.Tree, Conversation{Topic: strconv.FormatInt(*msg.Tree, 10)}, map[int64]int{}
	}
	turn := -1
	if msg.Parent != nil {
		var ok bool
		if turn, ok = m.turnOf[*msg.Parent]; !ok {
			return done, errOrphan
		}
	}
	m.turnOf[*msg.Idx] = m.current.say(msg.Role, msg.Text, turn)
	return done, nil
}

func (m *messages) end() []Conversation {
	if len(m.current.Turns) == 0 {
		return nil
	}
	return []Conversation{m.current}
}

// published parses the messages as they are published: one a record, with a name, that of its parent, and that of its tree. The messages
// of a tree follow each other, each behind its parent.
type published struct {
	current Conversation
	turnOf  map[string]int // by name: the turn at or above a message of the current tree
}

type publishedMessage struct {
	ID     string  `json:"message_id"`
	Parent *string `json:"parent_id"`
	Tree   string  `json:"message_tree_id"`
	Role   string  `json:"role"`
	Text   string  `json:"text"`
}

var errLate = errors.New("parent_id names no earlier message of the tree")

func (p *published) add(record []byte) (done []Conversation, err error) {
	var msg publishedMessage
	if json.Unmarshal(record, &msg) != nil || msg.ID == "" || msg.Tree == "" || msg.Role == "" {
		return nil, errJSON
	}
	if msg.Tree != p.current.Topic || p.turnOf == nil {
		done = p.end()
		p.current, p.turnOf = Conversation{Topic: msg.Tree}, map[string]int{}
	}
	turn := -1
	if msg.Parent != nil {
		var ok bool
		if turn, ok = p.turnOf[*msg.Parent]; !ok {
			return done, errLate
		}
	}
	p.turnOf[msg.ID] = p.current.say(msg.Role, msg.Text, turn)
	return done, nil
}

func (p *published) end() []Conversation {
	if len(p.current.Turns) == 0 {
		return nil
	}
	return []Conversation{p.current}
}
