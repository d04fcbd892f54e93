package edits

import "reprise/topics/reuse/normal"

const (
	window = 32  // tokens of a side between the equal head and the equal tail; more are not aligned
	steps  = 512 // of the search for an alignment, where words repeat
)

// alignment is the search for edits that lead from one prompt to another. Both differ between head and their last tail tokens.
type alignment struct {
	stored, asked sentence
	tail          int
	list          []Edit
	steps         int
	far           Edit       // where the search got furthest
	before        [Most]Edit // the edits that it had found there
	found         int
}

// same reports whether two tokens are compared as equal.
func same(a, b *normal.Token) bool {
	return a.Text == b.Text && a.Kind == b.Kind && a.Quoted == b.Quoted
}

// ends returns the numbers of equal tokens at the beginning and at the end.
func ends(a, b []normal.Token) (head, tail int) {
	n := min(len(a), len(b))
	for head < n && same(&a[head], &b[head]) {
		head++
	}
	for tail < n-head && same(&a[len(a)-1-tail], &b[len(b)-1-tail]) {
		tail++
	}
	return head, tail
}

// open cuts the question mark at the end: what its sentence asks for is seen by its first words.
func open(tokens []normal.Token) []normal.Token {
	if n := len(tokens); n > 0 && tokens[n-1].Kind == normal.Mark && tokens[n-1].Text == "?" {
		return tokens[:n-1]
	}
	return tokens
}

// align explains the difference between two prompts that are not equal.
func align(a, b []normal.Token) ([]Edit, bool) {
	marked := len(a) - len(b)
	a, b = open(a), open(b)
	marked -= len(a) - len(b)
	head, tail := ends(a, b)
	differ := Edit{Stored: Span{head, len(a) - tail}, Asked: Span{head, len(b) - tail}}
	if head == len(a) && head == len(b) || len(a)-tail-head > window || len(b)-tail-head > window {
		return []Edit{differ}, false
	}
	al := alignment{tail: tail, far: differ, steps: steps}
	if !al.stored.read(a) || !al.asked.read(b) {
		return []Edit{differ}, false
	}
	if marked != 0 && orders[a[0].Text] {
		return []Edit{differ}, false
	}
	if class := al.swapped(); class != 0 {
		return []Edit{{class, Span{head, len(a) - tail}, Span{head, len(b) - tail}}}, true
	}
	al.list = make([]Edit, 0, Most+1)
	if al.search(head, head, true) && !al.used() {
		return al.list, true
	}
	return append(append(al.list[:0], al.before[:al.found]...), al.furthest()), false
}

// search explains the rest of both prompts from token i of the stored and j of the asked one. Two edits do not touch each other: then they
// would be one that is not listed. free says that an edit may be here.
func (al *alignment) search(i, j int, free bool) bool {
	a, b := al.stored.tokens, al.asked.tokens
	endA, endB := len(a)-al.tail, len(b)-al.tail
	if i == endA && j == endB {
		return true
	}
	if al.steps--; al.steps < 0 {
		return false
	}
	if i < endA && j < endB && same(&a[i], &b[j]) && al.search(i+1, j+1, true) {
		return true
	}
	if free && len(al.list) < Most && al.edit(i, j, endA, endB) {
		return true
	}
	if i+j > al.far.Stored.From+al.far.Asked.From {
		al.far.Stored.From, al.far.Asked.From = i, j
		al.found = copy(al.before[:], al.list)
	}
	return false
}

// edit tries all edits that may begin at i and j.
func (al *alignment) edit(i, j, endA, endB int) bool {
	for _, r := range candidates(al.stored.tokens, i, endA) {
		if al.try(r, i, j, endA, endB) {
			return true
		}
	}
	for _, r := range inserts(al.asked.tokens, j, endB) {
		if al.try(r, i, j, endA, endB) {
			return true
		}
	}
	if i < endA && j < endB && al.misspelt(i, j) {
		return al.take(Edit{typo, Span{i, i + 1}, Span{j, j + 1}})
	}
	return false
}

// try applies a rule, if its context is there on both sides, and goes on behind it.
func (al *alignment) try(r *rule, i, j, endA, endB int) bool {
	if i+len(r.stored) > endA || j+len(r.asked) > endB {
		return false
	}
	e := Edit{r.class, Span{i, i + len(r.stored)}, Span{j, j + len(r.asked)}}
	if !al.stored.matches(r, r.stored, e.Stored) || !al.asked.matches(r, r.asked, e.Asked) {
		return false
	}
	return al.take(e)
}

// take adds an edit and goes on behind it.
func (al *alignment) take(e Edit) bool {
	n := len(al.list)
	al.list = append(al.list, e)
	if al.search(e.Stored.To, e.Asked.To, false) {
		return true
	}
	al.list = al.list[:n]
	return false
}

// furthest is the difference at which the search ended: up to the next token that both sides have, or to the equal tail.
func (al *alignment) furthest() Edit {
	a, b := al.stored.tokens, al.asked.tokens
	i, j := al.far.Stored.From, al.far.Asked.From
	endA, endB := len(a)-al.tail, len(b)-al.tail
	for n := 1; n < endA-i+endB-j; n++ {
		for di := max(0, n-(endB-j)); di <= min(n, endA-i); di++ {
			if i+di < endA && j+n-di < endB && same(&a[i+di], &b[j+n-di]) {
				return Edit{Stored: Span{i, i + di}, Asked: Span{j, j + n - di}}
			}
		}
	}
	return Edit{Stored: Span{i, endA}, Asked: Span{j, endB}}
}
