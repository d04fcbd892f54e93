package reuse

import "slices"

// sameOrder compares the order of tokens that both prompts have equally often: content, numbers, code, quoted words, direction
// words; and that of persons.
func sameOrder(a, b []token, d *diff) bool {
	if !samePersons(a, b) {
		return false
	}
	return slices.Equal(d.sequence(a), d.sequence(b)) ||
		slices.Equal(d.sequence(rearranged(a)), d.sequence(rearranged(b)))
}

// samePersons reports whether the same persons come in the same order: "do I owe you" is not "do you owe me". Where they
// are not the same persons nothing is known; "could you tell me" adds two.
func samePersons(a, b []token) bool {
	x, y := persons(a), persons(b)
	if len(x) != len(y) || slices.Equal(x, y) {
		return true
	}
	slices.Sort(x)
	slices.Sort(y)
	return !slices.Equal(x, y)
}

func persons(tokens []token) (out []string) {
	for _, t := range tokens {
		if t.is(personal) {
			out = append(out, people[t.key])
		}
	}
	return out
}

// sequence lists the ids whose place matters.
func (d *diff) sequence(tokens []token) []int32 {
	out := make([]int32, 0, len(tokens))
	for _, t := range tokens {
		c, alias := d.counts[t.id], d.alias[t.id]
		switch {
		case alias >= 0 && content(t):
			out = append(out, alias)
		case c.a == c.b && (content(t) || t.quoted || t.is(directional)):
			out = append(out, t.id)
		}
	}
	return out
}

// rearranged brings into one form what may be said in two orders.
func rearranged(tokens []token) []token {
	tokens = slices.Clone(tokens)
	unfront(tokens)
	turnGenitives(tokens)
	sortCompared(tokens)
	return tokens
}

// longestFront bounds a phrase that unfront moves, in tokens.
const longestFront = 8

// unfront moves a phrase from the front of a prompt to the end of its sentence: "In Rome, what is open" becomes "what is
// open In Rome". The phrase begins with a preposition and ends at a pause or a question word.
func unfront(tokens []token) {
	if !tokens[0].is(preposition) {
		return
	}
	for i := 2; i < len(tokens) && i <= longestFront; i++ {
		if t := tokens[i]; !t.pausing && !t.is(questioning) {
			continue
		}
		end := i
		for end < len(tokens) && (end == i || !tokens[end].start) {
			end++
		}
		front := slices.Clone(tokens[:i])
		copy(tokens, tokens[i:end])
		copy(tokens[end-i:], front)
		return
	}
}

// turnGenitives makes "apr of my credit card" what "my credit card's apr" is: the owner first.
func turnGenitives(tokens []token) {
	for i := 1; i+1 < len(tokens); i++ {
		if tokens[i].key != "of" || !content(tokens[i-1]) {
			continue
		}
		end := i + 1
		for end < len(tokens) && !tokens[end].pausing && (content(tokens[end]) || end < i+3 && tokens[end].is(determining)) {
			end++
		}
		owned := tokens[i-1]
		copy(tokens[i-1:], tokens[i:end])
		tokens[end-1] = owned
		i = end - 1
	}
}

// sortCompared puts the two members of a comparison in one order: the difference between b and a is that between a and b.
func sortCompared(tokens []token) {
	compared := false
	for i, t := range tokens {
		compared = compared || t.is(comparing)
		if !compared || i == 0 || i+1 == len(tokens) || !t.is(joining) {
			continue
		}
		if l, r := &tokens[i-1], &tokens[i+1]; l.kind == word && r.kind == word && r.key < l.key {
			*l, *r = *r, *l
		}
	}
}
