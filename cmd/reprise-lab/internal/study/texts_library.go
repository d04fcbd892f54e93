package study

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"reprise/cmd/reprise-lab/sim"
	"reprise/cmd/reprise-lab/sim/trace"
	"reprise/embed"
	"reprise/internal/traffic"
)

// library has the texts of Setup.Data, and the vectors that were needed so far.
type library struct {
	trees               [][]thread // OASST1: the root-to-leaf paths of each tree, all roles
	clinc, banking, hwu [][]line   // by intent
	talks               []thread   // SGD: the user's side

	mu       sync.Mutex
	contents map[string]*sim.Content
}

// line is a message. A reply of 0 bytes is not known.
type line struct {
	text   string
	prompt bool
	reply  int
}

// thread is a conversation.
type thread struct {
	topic uint64
	lines []line
}

// The texts of Setup.Data.
const (
	oasstFile   = "dialogue/oasst1_en.jsonl.gz"
	sgdFile     = "dialogue/sgd.jsonl.gz"
	clincFile   = "intent/clinc150.jsonl.gz"
	bankingFile = "intent/banking77.jsonl.gz"
	hwuFile     = "intent/hwu64.jsonl.gz"
)

var textFiles = []string{oasstFile, sgdFile, clincFile, bankingFile, hwuFile}

func readLibrary(dir string) (*library, error) {
	l := &library{contents: map[string]*sim.Content{}}
	var errs [5]error
	l.trees, errs[0] = readTrees(filepath.Join(dir, oasstFile))
	l.talks, errs[1] = readTalks(filepath.Join(dir, sgdFile))
	l.clinc, errs[2] = readIntents(filepath.Join(dir, clincFile))
	l.banking, errs[3] = readIntents(filepath.Join(dir, bankingFile))
	l.hwu, errs[4] = readIntents(filepath.Join(dir, hwuFile))
	return l, errors.Join(errs[:]...)
}

// content returns the content of a text. Equal texts share it.
func (l *library) content(text string) *sim.Content {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.contents[text]
	if c == nil {
		c = &sim.Content{Text: text}
		// The built-in embedder fails only if its context ends.
		if v, err := embed.NewBuiltin().Embed(context.Background(), []string{text}); err == nil {
			c.Vector = v[0]
		}
		l.contents[text] = c
	}
	return c
}

// message is a record of OASST1's flat layout. Trees are in pre-order. It is not read with traffic.OpenConversations, which returns
// only the prompters' messages: here the messages of assistants are requests too.
type message struct {
	Idx, Tree  int
	Parent     *int `json:"parent_idx"`
	Role, Text string
}

func readTrees(path string) (trees [][]thread, err error) {
	all, err := records[message](path)
	if err != nil {
		return nil, err
	}
	for from, to := 0, 0; from < len(all); from = to {
		for to < len(all) && all[to].Tree == all[from].Tree {
			to++
		}
		paths, err := pathsOf(all[from:to])
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		trees = append(trees, paths)
	}
	if len(trees) < treeCount {
		return nil, fmt.Errorf("read %s: %d trees, want %d or more", path, len(trees), treeCount)
	}
	return trees, nil
}

// pathsOf returns the paths from the root of a tree to its leaves.
func pathsOf(tree []message) (paths []thread, err error) {
	upTo := map[int][]line{} // by idx
	leaf := map[int]bool{}
	reply := map[int]int{}
	for _, m := range tree {
		leaf[m.Idx] = true
		if m.Parent != nil {
			leaf[*m.Parent] = false
			if reply[*m.Parent] == 0 {
				reply[*m.Parent] = len(m.Text)
			}
		}
	}
	for _, m := range tree {
		var above []line
		if m.Parent != nil {
			if above = upTo[*m.Parent]; above == nil {
				return nil, fmt.Errorf("tree %d: message %d comes before its parent", m.Tree, m.Idx)
			}
		}
		upTo[m.Idx] = append(above[:len(above):len(above)], line{m.Text, m.Role == "prompter", reply[m.Idx]})
		if leaf[m.Idx] {
			paths = append(paths, thread{uint64(m.Tree) + 1, upTo[m.Idx]})
		}
	}
	return paths, nil
}

// readTalks reads the users' side of dialogues.
func readTalks(path string) (talks []thread, err error) {
	r, err := traffic.OpenConversations(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for {
		c, err := r.Next()
		if err == io.EOF {
			_, fault := r.Skipped()
			return talks, fault
		}
		if err != nil {
			return nil, err
		}
		t := thread{topic: trace.Identity(c.Topic)}
		for _, turn := range c.Turns {
			t.lines = append(t.lines, line{turn.Text, true, len(turn.Answer)})
		}
		talks = append(talks, t)
	}
}

// readIntents groups utterances by intent, in the order of the file.
func readIntents(path string) (groups [][]line, err error) {
	all, err := records[struct{ Text, Intent string }](path)
	number := map[string]int{}
	for _, u := range all {
		n, ok := number[u.Intent]
		if !ok {
			n = len(groups)
			number[u.Intent] = n
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], line{text: u.Text, prompt: true})
	}
	return groups, err
}

// records reads a file of JSON values, packed or not.
func records[T any](path string) (all []T, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	plain, err := traffic.Unpack(bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	for in := json.NewDecoder(plain); ; {
		var one T
		err := in.Decode(&one)
		switch {
		case err == io.EOF && len(all) == 0:
			return nil, fmt.Errorf("read %s: no records in it", path)
		case err == io.EOF:
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("read %s: record %d: %w", path, len(all)+1, err)
		}
		all = append(all, one)
	}
}
