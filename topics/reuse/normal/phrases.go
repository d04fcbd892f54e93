package normal

import (
	"slices"
	"strings"
)

// phrases is a tree of phrases, a word each level, forwards or backwards.
type phrases struct {
	edges []edge
	first map[string]*phrases // the edges of a root
	end   bool                // of a phrase
	name  string              // of its frame, if it has one
}

type edge struct {
	word string
	to   *phrases
}

// forwards returns the phrases of a list from their first word to the last.
func forwards(list string) *phrases {
	p := &phrases{first: map[string]*phrases{}}
	p.addAll(list, "", false)
	return p
}

// backwards returns the phrases of a list from their last word to the first.
func backwards(list string) *phrases {
	p := &phrases{first: map[string]*phrases{}}
	p.addAll(list, "", true)
	return p
}

var brackets = strings.NewReplacer("(", " ( ", ")", " ) ", "[", " [ ", "]", " ] ", "|", " | ")

// addAll adds the phrases of a list with choices, such as "hi [there|all]".
func (p *phrases) addAll(list, name string, reverse bool) {
	for line := range strings.Lines(list) {
		words := strings.Fields(brackets.Replace(line))
		if len(words) == 0 {
			continue
		}
		if reverse {
			mirror(words)
		}
		ends, rest := p.choices([]*phrases{p}, words)
		if len(rest) > 0 {
			panic("unbalanced phrase: " + line)
		}
		for _, e := range ends {
			if e != p {
				e.end, e.name = true, name
			}
		}
	}
}

// mirror turns a phrase with choices around.
func mirror(words []string) {
	for i, j := 0, len(words)-1; i < j; i, j = i+1, j-1 {
		words[i], words[j] = words[j], words[i]
	}
	turned := map[string]string{"(": ")", ")": "(", "[": "]", "]": "["}
	for i, w := range words {
		if t, ok := turned[w]; ok {
			words[i] = t
		}
	}
}

// choices adds the alternatives up to the closing bracket of the level that words begin in, behind each of the nodes from, and returns
// where they end.
func (p *phrases) choices(from []*phrases, words []string) (ends []*phrases, rest []string) {
	at := from
	for len(words) > 0 {
		w := words[0]
		words = words[1:]
		switch w {
		case ")", "]":
			return union(ends, at), words
		case "|":
			ends, at = union(ends, at), from
		case "(", "[":
			before := at
			if at, words = p.choices(at, words); w == "[" {
				at = union(at, before)
			}
		default:
			next := make([]*phrases, len(at))
			for i, n := range at {
				next[i] = n.add(w)
			}
			at = next
		}
	}
	return union(ends, at), nil
}

// union returns the nodes of two lists, each once.
func union(a, b []*phrases) []*phrases {
	all := slices.Clone(a)
	for _, n := range b {
		if !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}

func (p *phrases) add(word string) *phrases {
	n := p.step(word)
	if n == nil {
		if n = (&phrases{}); p.first != nil {
			p.first[word] = n
		} else {
			p.edges = append(p.edges, edge{word, n})
		}
	}
	return n
}

// step returns the node behind a word, or nil.
func (p *phrases) step(word string) *phrases {
	if p.first != nil {
		return p.first[word]
	}
	for i := range p.edges {
		if p.edges[i].word == word {
			return p.edges[i].to
		}
	}
	return nil
}

// match calls f with the length of every phrase that begins at token i, or that ends there where step is -1, the shortest first.
func (p *phrases) match(ts tokens, i, step int, f func(n int, name string)) {
	for n := 0; ; n++ {
		if p.end {
			f(n, p.name)
		}
		j := i + n*step
		if j < 0 || j >= len(ts) || ts[j].Quoted || ts[j].Kind == Code {
			return
		}
		if p = p.step(ts[j].Text); p == nil {
			return
		}
	}
}

// longest returns the length of the longest phrase that begins at token i, or 0, and its name.
func (p *phrases) longest(ts tokens, i int) (length int, name string) {
	p.match(ts, i, 1, func(n int, s string) { length, name = n, s })
	return length, name
}

// lengths returns the lengths of the phrases at token i, the shortest first, the longest eight at most.
func (p *phrases) lengths(ts tokens, i, step int) (all [8]int, count int) {
	p.match(ts, i, step, func(n int, _ string) {
		if count == len(all) {
			copy(all[:], all[1:])
			count--
		}
		all[count] = n
		count++
	})
	return all, count
}
