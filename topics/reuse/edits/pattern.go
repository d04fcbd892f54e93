package edits

import (
	"fmt"
	"slices"
	"strings"

	"reprise/topics/reuse/normal"
)

// element is one place of a context.
type element struct {
	words    map[string]bool // any of them
	not      bool            // any word but these, also one with a capital
	start    bool            // or the beginning of the sentence
	end      bool            // or its end
	optional bool
}

// rule is an edit of two spellings in one context.
type rule struct {
	class         Class
	stored, asked []string
	left, right   []element // left from the edit outwards
	line          string    // of the source
}

// byStored has the rules by the first word of the stored spelling, byAsked those that have none, by the first word of the asked one.
var byStored, byAsked = index(compile(source))

func candidates(tokens []normal.Token, i, end int) []*rule {
	if i < end {
		return byStored[tokens[i].Text]
	}
	return nil
}

func inserts(tokens []normal.Token, j, end int) []*rule {
	if j < end {
		return byAsked[tokens[j].Text]
	}
	return nil
}

func index(all []*rule) (stored, asked map[string][]*rule) {
	stored, asked = map[string][]*rule{}, map[string][]*rule{}
	for _, r := range all {
		if len(r.stored) > 0 {
			stored[r.stored[0]] = append(stored[r.stored[0]], r)
		} else {
			asked[r.asked[0]] = append(asked[r.asked[0]], r)
		}
	}
	return stored, asked
}

// compile reads the list: a line has the class, and the context around the spellings in brackets. It panics on a
// line that it cannot read.
func compile(source string) (all []*rule) {
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, pattern, _ := strings.Cut(line, ":")
		all = append(all, compileLine(name, pattern)...)
	}
	return all
}

func compileLine(name, pattern string) (all []*rule) {
	before, rest, ok1 := strings.Cut(pattern, "[")
	spellings, after, ok2 := strings.Cut(rest, "]")
	class := slices.IndexFunc(Table, func(r row) bool { return r.Name == name })
	if !ok1 || !ok2 || class < 1 {
		panic("edits: " + name + ":" + pattern)
	}
	base := rule{class: Class(class), left: elements(before), right: elements(after), line: strings.TrimSpace(pattern)}
	slices.Reverse(base.left)
	if from, to, ok := strings.Cut(spellings, ">"); ok {
		return append(all, base.pair(strings.Fields(from), strings.Fields(to)))
	}
	var each [][]string
	for s := range strings.SplitSeq(spellings, "/") {
		words := strings.Fields(s)
		each = append(each, words)
		if len(words) > 1 && words[0] == "HOW" { // the normal form has the frame before some verbs only
			each = append(each, append([]string{"how", "do", "i"}, words[1:]...), append([]string{"how", "can", "i"}, words[1:]...))
		}
	}
	for i := range each {
		for j := range each {
			if i != j {
				all = append(all, base.pair(each[i], each[j]))
			}
		}
	}
	return all
}

// pair is the rule for two spellings. Words that both begin or end with become context, since the alignment takes equal words first.
func (r rule) pair(a, b []string) *rule {
	r.left, r.right = slices.Clone(r.left), slices.Clone(r.right)
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		r.left = slices.Insert(r.left, 0, literal(a[0]))
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		r.right = slices.Insert(r.right, 0, literal(a[len(a)-1]))
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a)+len(b) == 0 {
		panic("edits: equal spellings: " + r.line)
	}
	r.stored, r.asked = a, b
	return &r
}

func literal(word string) element { return element{words: map[string]bool{word: true}} }

// elements reads a context: words, of which one of several with a bar between them; @ and the name of a list; ^ and $ for the beginning
// and the end of the sentence; ~ and words for any word but these, also with a capital; and a question mark behind what may be missing.
func elements(pattern string) (all []element) {
	for _, field := range strings.Fields(pattern) {
		e := element{words: map[string]bool{}}
		if len(field) > 1 {
			field, e.optional = strings.CutSuffix(field, "?")
		}
		field, e.not = strings.CutPrefix(field, "~")
		for word := range strings.SplitSeq(field, "|") {
			e.add(word)
		}
		all = append(all, e)
	}
	return all
}

func (e *element) add(word string) {
	switch {
	case word == "^":
		e.start = true
	case word == "$":
		e.end = true
	case word[0] == '@':
		list, ok := lists[word[1:]]
		if !ok {
			panic(fmt.Sprintf("edits: no list %s", word))
		}
		for w := range strings.FieldsSeq(list) {
			e.add(w)
		}
	default:
		e.words[word] = true
	}
}

// matches reports whether the spelling is at a place of the sentence, and the context of the rule around it.
func (s *sentence) matches(r *rule, spelling []string, at Span) bool {
	for i, word := range spelling {
		if s.tokens[at.From+i].Text != word || s.name(at.From+i) {
			return false
		}
	}
	return s.left(r.left, at.From-1) && s.right(r.right, at.To) && !s.digits(at)
}

// left matches a context from token i backwards.
func (s *sentence) left(context []element, i int) bool {
	if len(context) == 0 {
		return true
	}
	e := &context[0]
	if e.optional && s.left(context[1:], i) {
		return true
	}
	if i < 0 {
		return e.start && len(context) == 1
	}
	if i == s.how && e.words["HOW"] {
		return true // whatever is in front of it is not in the sentence
	}
	return s.has(e, i) && s.left(context[1:], i-1)
}

// right matches a context from token i on.
func (s *sentence) right(context []element, i int) bool {
	if len(context) == 0 {
		return true
	}
	e := &context[0]
	if e.optional && s.right(context[1:], i) {
		return true
	}
	if e.end && (i == len(s.tokens) || ended(s.tokens, i)) {
		return true
	}
	return i < len(s.tokens) && s.has(e, i) && s.right(context[1:], i+1)
}

// has reports whether a token fits an element. A word with a capital may be a name.
func (s *sentence) has(e *element, i int) bool {
	t := &s.tokens[i]
	if e.not {
		return t.Kind == normal.Word && !e.words[t.Text]
	}
	return !s.name(i) && e.words[t.Text]
}

// name reports whether a token has a capital that the beginning of the sentence does not explain.
func (s *sentence) name(i int) bool {
	t := &s.tokens[i]
	return t.Capital && !t.First && i > 0 && !propers[t.Text]
}

// digits reports whether a number is within two tokens of a place.
func (s *sentence) digits(at Span) bool {
	for i := max(0, at.From-2); i < min(len(s.tokens), at.To+2); i++ {
		if s.tokens[i].Kind == normal.Number && (i < at.From || i >= at.To) {
			return true
		}
	}
	return false
}
