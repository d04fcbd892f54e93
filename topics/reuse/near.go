package reuse

import "slices"

// Prompts of which no more words differ, or no greater share of the sentences that differ, are one template with a small difference.
const (
	nearWords = 2
	nearShare = 0.15
)

// comparison is that of two prompts that differ.
type comparison struct {
	*diff
	stored, asked []token
	first, second []token // the same, in the order of the surplus
	reworded      bool    // they ask in different ways
	cased         bool    // letter case means something in both
	answered      bool    // stored has lost a sentence that only says what the answer is for
}

// near reports whether the prompts are one template with a small difference.
func (c *comparison) near() bool {
	differing, limit := max(len(c.a), len(c.b)), nearWords
	if x, y := count(c.a), count(c.b); c.reworded && x.content+y.content > 0 {
		limit--
	}
	return differing <= limit || float64(differing) <= nearShare*float64(max(window(c.first, c.head, c.x), window(c.second, c.head, c.y)))
}

// window counts the tokens of the sentences in which part, a part of all, begins and ends.
func window(all []token, head int, part []token) int {
	from, to := head, head+len(part)
	for from > 0 && !all[min(from, len(all)-1)].start {
		from--
	}
	for to < len(all) && !all[to].start {
		to++
	}
	return to - from
}

// verbatim compares prompts that are asked in one way and differ by one word at most, beside words such as "is" and "are". Then nothing may
// differ but what is another spelling of the same: which articles, endings, commas and capitals matter depends on the words around
// them, and the list of edits has those that do not.
func (c *comparison) verbatim() Veto {
	d := c.diff
	if c.reworded || max(bearing(d.a), bearing(d.b)) > 1 || !d.unmoved() {
		return Pass
	}
	d.pair(func(x, y token) bool { return synonymous(x.key, y.key) && !inflected(x.key, y.key) })
	d.cancelJoined()
	d.pair(func(x, y token) bool { return slip(x.key, y.key) })
	d.agree()
	if len(d.a)+len(d.b) > 0 {
		if c.split() {
			return Pass
		}
		return c.smallVeto()
	}
	return sameMarks(c.first, c.second, c.cased)
}

// split reports whether one prompt says in a sentence of its own what the other has as a clause: "What should I do when I am late?", "I am
// late. What should I do?"
func (c *comparison) split() bool {
	clause, with, without := c.a, c.first, c.second
	if len(c.a) == 0 {
		clause, with, without = c.b, c.second, c.first
	}
	return len(c.a)+len(c.b) == 1 && clause[0].is(subordinating) && clause[0].key != "as" && !with[0].is(subordinating) && sentences(without) == sentences(with)+1 &&
		without[0].key == "i"
}

// bearing counts the tokens of a surplus without those that agree with others.
func bearing(surplus []token) (n int) {
	for _, t := range surplus {
		if !t.is(agreeing) {
			n++
		}
	}
	return n
}

// smallVeto is the veto for a difference of a few words that are neither spelled alike nor synonyms.
func (c *comparison) smallVeto() Veto {
	d := c.diff
	d.cancelInflections()
	switch {
	case d.has(negation):
		return Negation
	case opposed(d):
		return Antonym
	case !sameQuestion(c.first, c.second):
		return Question
	case d.any(func(t token) bool { return t.name }):
		return Name
	}
	return Word
}

// sameMarks compares the letter case and the marks of tokens that are alike.
func sameMarks(a, b []token, cased bool) Veto {
	for i, j := 0, 0; ; i, j = i+1, j+1 {
		for i < len(a) && a[i].id != 0 {
			i++
		}
		for j < len(b) && b[j].id != 0 {
			j++
		}
		if i == len(a) || j == len(b) {
			return Pass
		}
		switch x, y := &a[i], &b[j]; {
		case x.quoted != y.quoted:
			return Quote
		case cased && x.shape != y.shape && !(x.start && !x.framed) && !(y.start && !y.framed) && x.kind == word:
			return Name
		case x.pausing != y.pausing && i > 0 && j > 0, x.newLine != y.newLine && i > 0 && j > 0, x.hyphen != y.hyphen, x.owning != y.owning:
			return Order
		}
	}
}

// shaped reports whether capitals mean something in a prompt: it has some, and letters that are none.
func shaped(tokens []token) bool {
	small, large := false, false
	for i := range tokens {
		small = small || tokens[i].shape == lower
		large = large || tokens[i].shape != lower
	}
	return small && large
}

// tally is how many words of each sort a surplus has.
type tally struct{ content, fillers, function, loose int }

func count(surplus []token) (n tally) {
	for _, t := range surplus {
		switch {
		case t.is(mild):
		case t.is(loose | subordinating):
			n.loose++
		case content(t) && !t.is(filler|preposition|directional):
			n.content++
		case t.is(filler):
			n.fillers++
		default:
			n.function++
		}
	}
	return n
}

// small compares prompts that are near: nothing of content may differ, and of grammar what goes with another way of asking, another order
// or another tense.
func (c *comparison) small() Veto {
	d := c.diff
	d.agree()
	x, y := count(d.a), count(d.b)
	switch {
	case c.split():
		return Pass
	case x.content+y.content > 0 || x.fillers+y.fillers > 0 && !c.reworded:
		return Word
	case terse(c.first) && y.content == 0 || terse(c.second) && x.content == 0:
		return Pass
	case c.reworded:
		if d.any(stern) {
			return Word
		}
		return Pass
	case x.function+y.function > 0, x.loose+y.loose > 0 && d.unmoved(), d.any(changing) && slices.ContainsFunc(d.a, changing) && slices.ContainsFunc(d.b, changing):
		return Word
	}
	return Pass
}

func changing(t token) bool { return t.is(auxiliary) }

// stern reports whether a word of grammar counts in every way to ask.
func stern(t token) bool {
	switch t.key {
	case "was", "were", "did", "had", "will", "would", "shall", "should", "must", "may", "might", "you", "your", "yours", "or", "only", "all", "every", "who", "whom",
		"whose", "when", "where", "why", "if", "again", "never", "other", "same":
		return true
	}
	return false
}

// agree takes auxiliaries out of the surplus that may replace each other, and the endings that verbs have with them: "how it works", "how
// does it work"; "when does it open", "when will it open"; "why was it sent", "why has it been sent". Present and past may not.
func (d *diff) agree() {
	does, will, has, was := set("do", "does"), set("will"), set("has", "have", "been"), set("was", "were", "did")
	is := set("is", "are", "be", "do", "does")
	switch {
	case d.any(set("gone")) && either(d, set("has", "have"), set("is", "are")): // "where is it", "where has it gone"
		drop(d, set("has", "have", "gone"), set("is", "are"))
	case either(d, will, is):
		drop(d, will, is)
	case either(d, has, was), either(d, has, func(token) bool { return false }) && !d.any(will):
		drop(d, has, was)
	case d.any(does) && !d.any(func(t token) bool { return t.is(auxiliary) && !does(t) }):
		drop(d, does, does)
	default:
		return
	}
	d.pair(func(x, y token) bool {
		return inflected(x.key, y.key) || irregular[x.key] != "" && irregular[x.key] == irregular[y.key]
	})
}

func set(words ...string) func(token) bool {
	return func(t token) bool { return slices.Contains(words, t.key) }
}

// either reports whether one side has a word of x, and the other one of y or none at all.
func either(d *diff, x, y func(token) bool) bool {
	fits := func(a, b []token) bool {
		return slices.ContainsFunc(a, x) && (slices.ContainsFunc(b, y) || !slices.ContainsFunc(b, func(t token) bool { return t.is(auxiliary) }))
	}
	return fits(d.a, d.b) || fits(d.b, d.a)
}

func drop(d *diff, x, y func(token) bool) {
	is := func(t token) bool { return x(t) || y(t) }
	d.a, d.b = slices.DeleteFunc(d.a, is), slices.DeleteFunc(d.b, is)
}

// longestTerse bounds a prompt of search words, in tokens, longestSearch one that may be no order.
const (
	longestTerse  = 8
	longestSearch = 4
)

// terse reports whether a prompt consists of search words: "change email address".
func terse(tokens []token) bool {
	return len(tokens) > 1 && len(tokens) <= longestTerse && !slices.ContainsFunc(tokens, func(t token) bool {
		return t.is(determining|auxiliary|personal) && t.key != "my" || t.framed || t.folded
	})
}

// search reports whether a prompt consists of search words and is no question.
func search(tokens []token) bool {
	return terse(tokens) && len(tokens) <= longestSearch && !slices.ContainsFunc(tokens, func(t token) bool { return t.is(questioning | preposition) })
}
