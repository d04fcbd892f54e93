package compare

import (
	"strings"

	"reprise/topics/reuse/evidence"
)

const (
	mostItems  = 48 // items of a list that are compared
	shortItem  = 5  // words up to which an item is a name or a thing
	steps      = 3  // words from which numbered items are steps
	fewest     = 3  // items of an enumeration in a line
	closeItems = .5
)

// list are the items of an answer.
type list struct {
	items    []*text
	numbered bool
}

// itemOf cuts the mark of an item off a line: "-", "*", "•", "1.", "2)".
func itemOf(line string) (mark, rest string) {
	for _, m := range [...]string{"- ", "* ", "• ", "+ "} {
		if rest, ok := strings.CutPrefix(line, m); ok {
			return m, strings.TrimSpace(rest)
		}
	}
	i := 0
	for i < len(line) && i < 3 && line[i] >= '0' && line[i] <= '9' {
		i++
	}
	if i > 0 && i+1 < len(line) && (line[i] == '.' || line[i] == ')') && line[i+1] == ' ' {
		return "1.", strings.TrimSpace(line[i+2:])
	}
	return "", line
}

// listOf returns the items of an answer, or nil where it has less than two.
func listOf(s string) *list {
	var l list
	lines := 0
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		mark, rest := itemOf(line)
		if mark != "" {
			l.numbered = l.numbered || mark == "1."
			l.items = append(l.items, readText(rest))
		} else if line != "" {
			lines++
		}
	}
	if len(l.items) == 0 && lines == 1 {
		l.items = enumeration(s)
	}
	if len(l.items) < 2 || len(l.items) > mostItems {
		return nil
	}
	return &l
}

// enumeration are the items of "a, b and c", if these are all that a line is.
func enumeration(s string) (items []*text) {
	if _, after, ok := strings.Cut(s, ": "); ok {
		s = after
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(strings.TrimRight(strings.TrimSpace(s), "."), " and ", ", "), ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		t := readText(part)
		if t.words > few || len(t.tokens) == 0 {
			return nil
		}
		items = append(items, t)
	}
	if len(items) < fewest {
		return nil
	}
	return items
}

// compareLists compares item by item. It is Unknown where the texts are no lists that can be compared so.
func compareLists(a, b *list) evidence.Outcome {
	if a == nil || b == nil || len(a.items) != len(b.items) && !(a.brief() && b.brief()) {
		return evidence.Unknown
	}
	used := make([]bool, len(b.items))
	same, inOrder, last := true, true, -1
	for _, x := range a.items {
		best, at := 0., -1
		for j, y := range b.items {
			if c := closeness(x, y); !used[j] && c > best {
				best, at = c, j
			}
		}
		if at < 0 || best < closeItems || x.words <= few && b.items[at].words <= few && best < 1 {
			return evidence.Different
		}
		used[at] = true
		inOrder, last = inOrder && at > last, at
		same = same && best >= closeTexts && contradicts(x, b.items[at]) == "" && !replaced(x, b.items[at])
	}
	switch {
	case len(a.items) != len(b.items), !inOrder && a.numbered && b.numbered && a.instructs():
		return evidence.Different
	case same && (inOrder || !a.numbered || !b.numbered):
		return evidence.Same
	}
	return evidence.Unknown
}

// brief reports whether the items are names or things.
func (l *list) brief() bool {
	for _, t := range l.items {
		if t.words > shortItem {
			return false
		}
	}
	return true
}

// instructs reports whether most items have the words of a step.
func (l *list) instructs() bool {
	n := 0
	for _, t := range l.items {
		if t.words >= steps {
			n++
		}
	}
	return 2*n > len(l.items)
}
