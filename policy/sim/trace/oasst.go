package trace

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
	if n.Role == "prompter" && strings.TrimSpace(n.Text) != "" {
		c.Turns = append(c.Turns, Turn{Text: n.Text, Parent: parent})
		parent = len(c.Turns) - 1
	} else if n.Role == "assistant" {
		c.answer(parent, n.Text)
	}
	for i := range n.Replies {
		c.grow(&n.Replies[i], parent)
	}
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
	if msg.Role == "prompter" && strings.TrimSpace(msg.Text) != "" {
		m.current.Turns = append(m.current.Turns, Turn{Text: msg.Text, Parent: turn})
		turn = len(m.current.Turns) - 1
	} else if msg.Role == "assistant" {
		m.current.answer(turn, msg.Text)
	}
	m.turnOf[*msg.Idx] = turn
	return done, nil
}

func (m *messages) end() []Conversation {
	if len(m.current.Turns) == 0 {
		return nil
	}
	return []Conversation{m.current}
}
