package edits

import (
	"strings"

	"reprise/topics/reuse/normal"
)

// conjoined is "A and B" in a sentence: the spans of both, and the place behind them.
type conjoined struct {
	left, right Span
}

// swapped is the class swap where the sentences differ only by A and B around the one "and", "or" or "vs", in a context in which their
// order carries nothing; else 0. The two are one listed word each, with an article or without, so that no word in front of one can belong to
// both.
func (al *alignment) swapped() Class {
	s, q := &al.stored, &al.asked
	if len(s.tokens) != len(q.tokens) {
		return 0
	}
	c, ok := s.conjoined()
	if !ok || !s.symmetric(c) {
		return 0
	}
	n := c.right.To - c.right.From
	for i := range n {
		if !same(&s.tokens[c.left.From+i], &q.tokens[c.right.From+i]) || !same(&s.tokens[c.right.From+i], &q.tokens[c.left.From+i]) {
			return 0
		}
	}
	for i := range s.tokens {
		if (i < c.left.From || i >= c.right.To || i == c.left.To) && !same(&s.tokens[i], &q.tokens[i]) {
			return 0
		}
	}
	return swap
}

// conjoined finds the one conjunction of a sentence, and what it joins.
func (s *sentence) conjoined() (c conjoined, ok bool) {
	at := -1
	for i := range s.tokens {
		if t := &s.tokens[i]; t.Kind == normal.Word && conjunctions[t.Text] {
			if at >= 0 {
				return c, false
			}
			at = i
		}
	}
	if at < 0 {
		return c, false
	}
	end := s.until(at + 1)
	n := end - at - 1
	c = conjoined{Span{at - n, at}, Span{at + 1, end}}
	return c, n >= 1 && n <= 2 && at-n > 0 && s.members(c)
}

// until is the end of what begins at a token: that of the sentence, or "in" and a field of knowledge, or an adjective of comparison.
func (s *sentence) until(i int) int {
	for ; i < len(s.tokens); i++ {
		t := &s.tokens[i]
		if t.Kind == normal.Mark || comparatives[t.Text] || t.Text == "in" && i+1 < len(s.tokens) && fields[strings.ToLower(s.tokens[i+1].Text)] {
			return i
		}
	}
	return i
}

// members reports whether two spans are a listed word each, or an article and one. A list it is: what has an order, or a distance with a
// direction, days and notes and branches of code, differs from itself the other way round.
func (s *sentence) members(c conjoined) bool {
	n := c.right.To - c.right.From
	for i := range n {
		a, b := &s.tokens[c.left.From+i], &s.tokens[c.right.From+i]
		if a.Quoted || b.Quoted {
			return false
		}
		if last := i == n-1; last && !(compared[strings.ToLower(a.Text)] && compared[strings.ToLower(b.Text)]) || !last && !(articles[a.Text] && articles[b.Text]) {
			return false
		}
	}
	return true
}

// symmetric reports whether nothing but the two is compared: "the difference between", "which is better,", "should I buy", and the end of
// the sentence behind.
func (s *sentence) symmetric(c conjoined) bool {
	if !s.closes(c.right.To) {
		return false
	}
	word := func(i int) string {
		if i < 0 || i >= len(s.tokens) {
			return ""
		}
		return s.tokens[i].Text
	}
	i := c.left.From - 1
	first, joint := word(0), word(c.left.To)
	if joint == "and" {
		return word(i) == "DIFF" || word(i) == "between" && relations[word(i-1)] && determiners[word(i-2)] && differs[first]
	}
	if word(i) == "," {
		i--
	}
	switch {
	case comparatives[word(i)] && word(i-1) == "is" && i-2 == 0 && (first == "what" || first == "which"):
		return !comparatives[word(c.right.To)]
	case chosen[word(i)] && word(i-1) == "i" && word(i-2) == "should" && i-2 == 0:
		return !comparatives[word(c.right.To)]
	}
	return i == 0 && first == "is" && comparatives[word(c.right.To)]
}

// closes reports whether a sentence ends at a token, or with an adjective of comparison or a field of knowledge there.
func (s *sentence) closes(i int) bool {
	if i < len(s.tokens) && comparatives[s.tokens[i].Text] {
		i++
	} else if i+1 < len(s.tokens) && s.tokens[i].Text == "in" && fields[strings.ToLower(s.tokens[i+1].Text)] {
		i += 2
	}
	return i == len(s.tokens) || ended(s.tokens, i)
}
