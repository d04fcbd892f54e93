package reuse

import "slices"

// sameOrder compares the order of tokens that both prompts have equally often: content, numbers, code, quoted words, direction
// words; and that of persons.
func (d *diff) sameOrder(a, b []token) bool {
	return d.unmoved() || samePersons(d.x, d.y) && d.moved(a, b)
}

// unmoved reports whether all is in the same place.
func (d *diff) unmoved() bool { return samePersons(d.x, d.y) && d.sameSequence(d.x, d.y) }

// moved reports whether the order differs only as that of one question may.
func (d *diff) moved(a, b []token) bool {
	x, y := rearranged(a), rearranged(b)
	return d.sameSequence(x, y) || d.rotated(a, b) || d.rotated(b, a) || (&x[0] != &a[0] || &y[0] != &b[0]) && (d.rotated(x, y) || d.rotated(y, x)) || d.passive(a, b) || d.permuted(a, b)
}

// solo reports whether no two things in prompts asked in two ways can have changed places: the asker does it in one of them, and neither has
// another person, a word of direction or comparison, or two names.
func (c *comparison) solo() bool {
	own := false
	for _, tokens := range [2][]token{c.first, c.second} {
		named := 0
		for i := range tokens {
			t := &tokens[i]
			if t.name {
				named++
			}
			asker := t.key == "i" || t.key == "we"
			own = own || asker || t.folded && t.key == "how"
			if named > 1 || t.is(directional|comparing|joining|negating) || t.is(personal) && !asker || t.key == "or" || t.key == "like" || t.key == "about" {
				return false
			}
		}
	}
	return own && (c.reworded || c.any(set("be", "is", "are", "been", "get")))
}

// longestRotated bounds the prompts whose parts are tried in another order, in tokens, and mostRotations how often.
const (
	longestRotated = 100
	mostRotations  = 4
)

// rotated reports whether b is a with a part at its front moved to its end: one that ends at a pause and begins with a preposition or
// the like, or is a sentence.
func (d *diff) rotated(a, b []token) bool {
	if len(a) > longestRotated || len(b) > longestRotated {
		return false
	}
	tries := 0
	for i := 1; i < len(a) && tries < mostRotations; i++ {
		if !a[i].pausing && !a[i].framed && !a[i].folded && (i < 2 || !a[i].is(personal|determining)) || !a[i].start && !a[0].is(preposition|subordinating) && !resumed(a[len(a)-1]) {
			continue
		}
		tries++
		if d.sameParts(a[i:], a[:i], b) {
			return true
		}
	}
	return false
}

// resumed is a word for what a question began with: "shoes that I have worn, can I return them".
var resumed = set("it", "them", "this", "those")

// mostPhrases bounds the phrases that may come in another order.
const mostPhrases = 5

// permuted reports whether phrases that begin with a preposition come in another order, behind the same: "pay in euros for a bike", "pay for a
// bike in euros". No more than one of them has an object of several words, which another could belong to: "a man with a dog in a hat".
func (d *diff) permuted(a, b []token) bool {
	if len(a) > longestRotated || len(b) > longestRotated {
		return false
	}
	x, y := cutAtPrepositions(a), cutAtPrepositions(b)
	if len(x) != len(y) || len(x) < 3 || len(x) > mostPhrases || !d.sameSequence(x[0], y[0]) {
		return false
	}
	long := 0
	for _, p := range x[1:] {
		if len(p) > 2 {
			long++
		}
		at := slices.IndexFunc(y[1:], func(q []token) bool { return p[0].key == q[0].key && d.sameSequence(p, q) })
		if at < 0 || long > 1 {
			return false
		}
		y = slices.Delete(y, at+1, at+2)
	}
	return true
}

func cutAtPrepositions(tokens []token) (parts [][]token) {
	from := 0
	for i := range tokens {
		if i > 0 && tokens[i].is(preposition|directional) {
			parts = append(parts, tokens[from:i])
			from = i
		}
	}
	return append(parts, tokens[from:])
}

// passive reports whether how I do something is asked in one prompt and how it is done in the other: apart from the verb the order is the
// same.
func (d *diff) passive(a, b []token) bool {
	if a[0].key != "how" || b[0].key != "how" || !a[0].folded && !b[0].folded || len(a) > longestRotated || len(b) > longestRotated {
		return false
	}
	if b[0].folded {
		a, b = b, a
	}
	verb := slices.IndexFunc(a, content)
	if verb < 0 || a[verb].id == 0 && !slices.ContainsFunc(b, func(t token) bool { return t.key == a[verb].key }) {
		return false
	}
	same := func(t token) bool {
		return t.key == a[verb].key || t.id != 0 && a[verb].id != 0 && d.keys[t.id].alias == d.keys[a[verb].id].alias
	}
	return d.sameSequence(slices.DeleteFunc(slices.Clone(a), same), slices.DeleteFunc(slices.Clone(b), same))
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

// sameSequence compares the tokens whose place matters.
func (d *diff) sameSequence(a, b []token) bool { return d.sameParts(a, nil, b) }

// sameParts is sameSequence of a list in two parts and b.
func (d *diff) sameParts(a, rest, b []token) bool {
	for {
		x, y := d.placed(&a), d.placed(&b)
		if x == nil {
			x = d.placed(&rest)
		}
		if x == nil || y == nil {
			return x == y
		}
		if x.id != 0 && y.id != 0 && d.keys[x.id].alias != d.keys[y.id].alias || (x.id == 0 || y.id == 0) && (x.id != y.id || x.key != y.key) {
			return false
		}
	}
}

// placed takes the next token whose place matters from the head of a list, and is nil behind the last one.
func (d *diff) placed(list *[]token) *token {
	for i := range *list {
		t := &(*list)[i]
		if t.id != 0 && d.keys[t.id].alias != 0 && content(*t) || t.id == 0 && (content(*t) || t.quoted || t.is(directional)) {
			*list = (*list)[i+1:]
			return t
		}
	}
	*list = nil
	return nil
}

// rearranged brings into one form what may be said in two orders. It returns tokens where there is nothing to do.
func rearranged(tokens []token) []token {
	if !tokens[0].is(preposition) && !slices.ContainsFunc(tokens, func(t token) bool { return t.key == "of" || t.is(comparing) }) {
		return tokens
	}
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
	for i := range tokens {
		t := &tokens[i]
		compared = compared || t.is(comparing)
		if !compared || i == 0 || i+1 == len(tokens) || !t.is(joining) {
			continue
		}
		if l, r := &tokens[i-1], &tokens[i+1]; l.kind == word && r.kind == word && r.key < l.key {
			*l, *r = *r, *l
		}
	}
}
