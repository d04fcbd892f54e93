package reuse

import "slices"

const (
	foreign = 2 // of so many words of content, one at least is common to two prompts that want the same
	idiom   = 7 // up to so many may be without one: "get my money back", "obtain a refund"
)

// free compares two prompts that are not near and of which no hard fact differs: one may say in other words what the other says, but the
// answered one has nothing more to it, and what the asked one has more is about the asker and in front.
func (c *comparison) free() Veto {
	x, y := count(c.a), count(c.b)
	more, less := c.b, c.a
	if len(c.stored) > 0 && &c.stored[0] == &c.second[0] {
		more, less = c.a, c.b
	}
	switch {
	case sentences(c.stored) > sentences(c.asked) && len(less) > 0:
		return Extra
	case c.any(ideographic) && (min(x.content, y.content) == 0 || 2*c.common() < max(x.content, y.content)): // a character is only part of a word
		return Word
	case x.content == 0 && y.content == 0:
		return c.grammar()
	case count(more).content == 0, count(less).content == 0 && (!personally(more) && count(more).content > 1 || c.behind()):
		return Extra
	case min(x.content, y.content) > 0 && c.common()*foreign < max(x.content, y.content) && (min(x.content, y.content) < 2 || x.content+y.content > idiom):
		return Word
	}
	return Pass
}

func sentences(tokens []token) (n int) {
	for i := range tokens {
		if i == 0 || tokens[i].start {
			n++
		}
	}
	return n
}

// personally reports whether a surplus has a person: "that I left on the bus", but not "in India".
func personally(surplus []token) bool {
	return slices.ContainsFunc(surplus, func(t token) bool { return t.is(personal) || t.key == "my" || t.key == "our" || t.key == "mine" })
}

// behind reports whether asked begins with the sentence that stored is and has another one behind it.
func (c *comparison) behind() bool {
	return c.head > 0 && sentences(c.asked) > sentences(c.stored) && c.head >= len(c.stored)-1
}

// grammar compares prompts with the same content in other words of grammar: not with other prepositions or persons.
func (c *comparison) grammar() Veto {
	leading := func(surplus []token) bool {
		return slices.ContainsFunc(surplus, func(t token) bool { return t.is(preposition) || t.key == "about" || t.key == "of" })
	}
	objects := set("me", "him", "her", "us", "them")
	if !c.reworded && c.unmoved() && (leading(c.a) && leading(c.b) || c.any(objects)) {
		return Word
	}
	return Pass
}

// turned reports whether one prompt is the other in the passive with the same one in front: "did A beat B", "was A beaten by B".
func (c *comparison) turned() bool {
	passive := func(surplus []token) bool {
		return slices.ContainsFunc(surplus, set("by")) && slices.ContainsFunc(surplus, set("is", "are", "was", "were", "be", "been", "being", "get", "got"))
	}
	if passive(c.a) == passive(c.b) || !c.unmoved() {
		return false
	}
	return max(count(c.a).content, count(c.b).content) <= 1
}

// common counts the content of a prompt that is no surplus.
func (c *comparison) common() (n int) {
	for i := range c.first {
		if t := &c.first[i]; content(*t) && (t.id == 0 || c.keys[t.id].alias != 0) {
			n++
		}
	}
	return n
}

// sameNegation compares negations. In other words a prompt may say with a word such as "fails" what another says with "not".
func (c *comparison) sameNegation(near bool) bool {
	if !c.has(negation) {
		return true
	}
	return !near && negative(c.a) && negative(c.b)
}

func negative(surplus []token) bool {
	return slices.ContainsFunc(surplus, func(t token) bool { return t.kind == negation || t.is(failing) })
}
