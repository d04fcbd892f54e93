package traffic

import (
	"cmp"
	"encoding/json"
	"errors"
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

// grow adds a message and its replies below the turn parent. The JSON bounds the depth of the recursion.
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

// flat parses both layouts with one message a record: one has the numbers idx, tree and parent_idx, the published one has the texts
// message_id, message_tree_id and parent_id. The messages of a tree follow each other, each behind its parent.
type flat struct {
	tree    string
	current Conversation
	turnOf  map[string]int // by identity: the turn at or above a message of the current tree
}

type message struct {
	Idx       json.RawMessage `json:"idx"`
	Tree      json.RawMessage `json:"tree"`
	ParentIdx json.RawMessage `json:"parent_idx"`
	ID        json.RawMessage `json:"message_id"`
	TreeID    json.RawMessage `json:"message_tree_id"`
	ParentID  json.RawMessage `json:"parent_id"`
	Role      string          `json:"role"`
	Text      string          `json:"text"`
}

func newFlat() conversationParser { return &flat{} }

var errOrphan = errors.New("its parent is no earlier message of the tree")

func (f *flat) add(record []byte) (done []Conversation, err error) {
	var m message
	if json.Unmarshal(record, &m) != nil {
		return nil, errJSON
	}
	id, tree, parent := cmp.Or(string(m.Idx), string(m.ID)), cmp.Or(string(m.Tree), string(m.TreeID)), cmp.Or(string(m.ParentIdx), string(m.ParentID), "null")
	if id == "" || tree == "" || m.Role == "" {
		return nil, errJSON
	}
	if tree != f.tree {
		done = f.end()
		f.tree, f.current, f.turnOf = tree, Conversation{Topic: strings.Trim(tree, `"`)}, map[string]int{}
	}
	turn := -1
	if parent != "null" {
		var ok bool
		if turn, ok = f.turnOf[parent]; !ok {
			return done, errOrphan
		}
	}
	f.turnOf[id] = f.current.say(m.Role, m.Text, turn)
	return done, nil
}

func (f *flat) end() []Conversation {
	if len(f.current.Turns) == 0 {
		return nil
	}
	return []Conversation{f.current}
}
