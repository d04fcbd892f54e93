package edits

// Classes by their number in Table. The numbers are stored with aliases and counts: a class is never taken out, a new one comes last.
const (
	swap Class = 11 // the two classes that are no line of source
	typo Class = 14
)

const (
	counted = "labelled question pairs"
	reading = "by meaning; not counted"
)

// held is the prior of a class that is held safe: four such edits together are still below the default error rate.
const held = 0.998

// Table is the list. Row 0 is no class.
var Table = []row{
	{},
	{"article", "the, a: listed sentences, the capital of a listed country", held, 205, 205, .94, counted},
	{"which", "what, which: listed sentences, the largest city of a listed country", held, 71, 71, .88, counted},
	{"number", "is, are: what is the advantages of", held, 32, 32, .89, counted},
	{"some", "some, some of the: what are ... advantages of; some or nothing: what are ... tips for, good places to visit in", held, 37, 37, .86, counted},
	{"any", "any, a: is there ... way to, difference between; any or nothing: are there, do you have, before listed nouns", held, 22, 22, .78, counted},
	{"filler", "really, actually: does it work, is it legal to; exactly: what is the purpose of, what does a ... do", held, 54, 54, .88, counted},
	{"so", "so before hard, expensive, important: listed subjects", held, 50, 16, .72, counted},
	{"that", "that: do you think I should, what are the things I should", held, 50, 6, .61, counted},
	{"more", "more before an adverb at the end of how to write more clearly", held, 50, 8, .68, counted},
	{"why", "stored X and why, asked X: listed sentences", held, 75, 75, .90, counted},
	{"swap", "A and B, listed: difference between, which is better, should I buy", held, 100, 100, .93, counted},
	{"comma", "comma before a X or a Y, before if, before and how does it work", held, 50, 15, .68, counted},
	{"hyphen", "listed words written as one, as two, or with a hyphen, behind listed words", held, 50, 0, 0, reading},
	{"typo", "two inner letters exchanged, one missing or twice, in a long listed word of how do I", held, 50, 0, 0, reading},
	{"of", "of after all, outside and before my, the US", held, 50, 15, .80, counted},
	{"way", "is there a way to, is there any way to, is it possible to: listed tasks", held, 50, 0, 0, reading},
	{"kind", "kind, type and sort in what kind of: listed goods", held, 50, 0, 0, reading},
	{"synonym", "listed phrases of one meaning, each in its context", held, 50, 0, 0, reading},
}
