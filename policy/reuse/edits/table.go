package edits

// The classes, in the order of Table. The numbers are stored with aliases and counts: a class is never taken out, a new one comes last.
const (
	article Class = iota + 1
	interrogative
	number
	some
	quantifier
	filler
	degree
	thatClause
	more
	andWhy
	swap
	comma
	hyphen
	typo
	of
	wayTo
	kindOfThing
	synonym
)

const (
	questions = "labelled question pairs"
	reading   = "by meaning; not counted"
)

// held is the prior of a class that is held safe: four such edits together are still below the default error rate.
const held = 0.998

// Table is the list. Row 0 is no class.
var Table = []Row{
	{},
	{"article", "the, a: before a listed noun with what must follow it", held, 205, 205, .94, questions},
	{"which", "what, which: at the beginning, before a listed noun or is the best", held, 71, 71, .88, questions},
	{"number", "is the N of, are the Ns of: listed nouns", held, 32, 32, .89, questions},
	{"some", "some, the, nothing: what are ... ways to", held, 37, 37, .86, questions},
	{"any", "any, nothing: is there, do you have, before listed nouns", held, 22, 22, .78, questions},
	{"filler", "really, actually before a verb; exactly after a question word", held, 54, 54, .88, questions},
	{"so", "so before an adjective at the end of why is X so", held, 50, 16, .72, questions},
	{"that", "that after think, sure and a clause; the things that I", held, 50, 6, .61, questions},
	{"more", "more before an adverb at the end of how to write more clearly", held, 50, 8, .68, questions},
	{"why", "stored X and why, asked X", held, 75, 75, .90, questions},
	{"swap", "A and B: difference between, which is better, should I buy", held, 100, 100, .93, questions},
	{"comma", "comma before or, if and and + question word", held, 50, 15, .68, questions},
	{"hyphen", "listed words written as one, as two, or with a hyphen", held, 50, 0, 0, reading},
	{"typo", "two inner letters exchanged, one missing or twice, in a listed word", held, 50, 0, 0, reading},
	{"of", "of after all, both, outside and before the, my", held, 50, 15, .80, questions},
	{"way", "is there a way to, is there any way to, is it possible to", held, 50, 0, 0, reading},
	{"kind", "kind, type and sort in what kind of", held, 50, 0, 0, reading},
	{"synonym", "listed phrases of one meaning, each in its context", held, 50, 0, 0, reading},
}
