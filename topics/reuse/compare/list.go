package compare

import (
	"slices"
	"strings"

	"reprise/topics/reuse/evidence"
)

const (
	mostItems  = 48 // items of a list that are compared
	fewest     = 3  // items of an enumeration in a line
	shortItem  = 5  // words up to which an item is a thing
	closeItems = .5 // closeness of items that may be partners
	steps      = 3  // words from which numbered items are steps
)

// list returns the items of a text, or of "a, b and c" if these are all that it is.
func (t *text) list() (items []*text) {
	ranges := t.items
	if len(ranges) == 0 {
		ranges = t.enumeration()
	}
	if len(ranges) < 2 || len(ranges) > mostItems {
		return nil
	}
	for _, r := range ranges {
		items = append(items, t.part(r[0], r[1]))
	}
	return items
}

// enumeration are the items of a line, after a colon.
func (t *text) enumeration() (ranges [][2]int) {
	if len(t.commas) == 0 || len(t.tokens) > mostItems*fewest || strings.Contains(t.source, "\n") {
		return nil
	}
	for start, i := t.colon, t.colon; i <= len(t.tokens); i++ {
		joined := i < len(t.tokens) && (t.is(i, "and") || t.is(i, "or"))
		if i < len(t.tokens) && !joined && !slices.Contains(t.commas, i) {
			continue
		}
		if i > start {
			ranges = append(ranges, [2]int{start, i})
		}
		if i-start > few {
			return nil
		}
		if start = i; joined {
			start++
		}
	}
	if len(ranges) < fewest {
		return nil
	}
	return ranges
}

// compareLists compares item by item, and reports whether that decides: not where texts are no lists that can be compared so, or items are not close.
func compareLists(a, b []*text, numbered bool) (o evidence.Outcome, decided bool) {
	if a == nil || b == nil || len(a) != len(b) && (mostWords(a) > shortItem || mostWords(b) > shortItem) {
		return evidence.Unknown, false
	}
	used, same, inOrder, last := make([]bool, len(b)), true, true, -1
	for _, x := range a {
		best, at := 0., -1
		for j, y := range b {
			if c := closeness(x, y); !used[j] && c > best {
				best, at = c, j
			}
		}
		if at < 0 || best < closeItems || max(x.words, b[at].words) <= few && best < 1 {
			return evidence.Different, true
		}
		used[at] = true
		inOrder, last = inOrder && at > last, at
		same = same && best >= closeTexts && contradicts(x, b[at], nil) == "" && replaced(x, b[at]) == evidence.Same
	}
	switch {
	case len(a) != len(b), !inOrder && numbered && mostWords(a) >= steps:
		return evidence.Different, true
	case !inOrder && numbered:
		return evidence.Unknown, true
	}
	return evidence.Same, same
}

// mostWords is the number of words of the longest item.
func mostWords(items []*text) (n int) {
	for _, t := range items {
		n = max(n, t.words)
	}
	return n
}
