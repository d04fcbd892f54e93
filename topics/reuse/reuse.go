// Package reuse compares two prompts that are the same for an embedder, and vetoes where a small difference changes the
// answer.
//
// Embedders, lexical and dense alike, put "turn it on" beside "turn it off" and "2+2" beside "2+3". Vetoes do not compare meaning either; they
// look for dangerous differences. A wrong answer costs more than a miss. Prompts that differ by little, one template with a small
// difference, get a veto for every difference that is not another spelling: package edits lists those that leave the answer alone, and is asked
// first. Prompts in other words get one for facts alone: numbers, names, code, negation, opposites, the kind of question, voice, and
// what the stored prompt has more. Words and tables are English; numbers, names, code, quotes, order and a few foreign negations work
// in any language.
//
// A difference is compared with all of both prompts, however long they are, in linear time. From 1 kB on they are read by parts: the
// lines that both begin with, and those that both end with, once. More than 32 tokens that differ are a veto.
package reuse

import "strings"

// Veto is the reason why an answer is not reused; it is short and plain enough for a header or a metric.
type Veto string

const (
	// Pass is the absence of a veto.
	Pass Veto = ""
	// Empty: one of the prompts has no word, number or symbol at all ("?!"). Its vector means nothing.
	Empty Veto = "empty"
	// Number: another number, unit, currency, ordinal, weekday or month ("2+2", "2+3"; "5 km", "5 miles"). Forms are
	// equal: 1,000 is 1000 is "one thousand", 5% is 5 percent.
	Number Veto = "number"
	// Negation: not the same number of negations ("is it safe", "is it not safe"; "with nuts", "without nuts"). In other words "can't log
	// in" is "login fails".
	Negation Veto = "negation"
	// Code: another identifier, path, URL, address, flag, version or operator ("os.Open", "os.Create"; "--all", "--any";
	// "a = b", "a < b"), any other text between backticks, another mark where it is more than punctuation ("5!", "5";
	// "x²", "x³"; "rm -rf /", "rm -rf ."), other brackets around values, and lines of other indentation.
	Code Veto = "code"
	// Quote: words are between quotation marks in one prompt and nowhere in the other (translate 'cat', translate 'dog').
	Quote Veto = "quote"
	// Antonym: two words that differ are opposites, or exclude each other ("turn on", "turn off"; "legal", "illegal";
	// "my", "your"; "is", "was").
	Antonym Veto = "antonym"
	// Question: the prompts ask for different things ("who wrote it", "when was it written"; "is it open", "why is it open").
	Question Veto = "question"
	// Name: a capitalised word of one prompt is missing in the other ("the capital of France", "of Spain"), or a word has other capitals
	// in prompts that differ by nothing else ("polish", "Polish").
	Name Veto = "name"
	// Order: the same words in another order ("from Oslo to Rome", "from Rome to Oslo"; "dog bites man", "man bites dog").
	// A phrase moved from the front ("In Rome, what ...") and swapped members of a comparison pass. Also the passive ("did A beat B",
	// "was A beaten by B"), and commas, hyphens and line breaks between prompts that differ by nothing else.
	Order Veto = "order"
	// Extra: what was answered has more to it than the prompt, such as a sentence behind the question.
	Extra Veto = "extra"
	// Word: prompts that are nearly the same differ by a word, or others have hardly any in common ("function of money", "function of tv").
	Word Veto = "word"
)

// most bounds the words that may differ on each side, and with them the cost of comparing word by word. Prompts with
// more differences get Word.
const most = 32

// Check returns a veto against answering asked with what was answered to stored, or Pass. Equal texts pass. It is symmetric, except that Extra has a direction:
// what is asked may begin with a sentence about the asker, what was answered may not. It is meant for pairs that the list of edits does not
// explain. TestVetoSets prints what passes list and vetoes behind an embedder that calls everything equal: of 229 free paraphrases
// of support questions 87 % (77 % of the half that the vetoes were written without), of 778 pairs of different meaning 6 %, of 313 planted questions 2 %; and TestData, that of 12,726
// back-translations, bad ones included, 36 % pass.
// The cost is linear, some 6 µs for two prompts of 20 words and 0.2 ms for two of 1,000.
func Check(stored, asked string) Veto {
	if stored == asked {
		return Pass
	}
	x, y := stored, asked
	if x > y {
		x, y = y, x // pairing words greedily would not be symmetric otherwise
	}
	a, b := scanBoth(x, y)
	if len(a) == 0 || len(b) == 0 {
		return Empty
	}
	a, b, cutA, cutB := prepare(a, b)
	c := compare(a, b)
	c.stored, c.asked, c.answered = c.first, c.second, cutA
	if x != stored {
		c.stored, c.asked, c.answered = c.second, c.first, cutB
	}
	switch {
	case c.has(number):
		return Number
	case c.has(code), strings.Count(stored, "```") != strings.Count(asked, "```"):
		return Code
	case c.any(func(t token) bool { return t.quoted }), strings.Count(stored, `"`)%2 != strings.Count(asked, `"`)%2:
		return Quote
	case len(c.a) > most || len(c.b) > most:
		return Word
	}
	return c.veto()
}

func compare(a, b []token) *comparison {
	cased := shaped(a) && shaped(b)
	a, ways := folded(a)
	b, others := folded(b)
	return &comparison{diff: difference(a, b), first: a, second: b, reworded: ways != others, cased: cased}
}

// veto compares prompts in which numbers, code and quotations are the same.
func (c *comparison) veto() Veto {
	if v := c.verbatim(); v != Pass {
		return v
	}
	if c.answered {
		return Extra
	}
	c.cancel()
	near := c.near()
	switch {
	case !c.sameNegation(near):
		return Negation
	case near && opposed(c.diff) || c.excludes():
		return Antonym
	case near && !search(c.first) && !search(c.second) && !sameQuestion(c.first, c.second), !likeQuestion(c.first, c.second):
		return Question
	case c.any(func(t token) bool { return t.name }):
		return Name
	case near && !c.sameOrder(c.first, c.second) && !c.solo(), c.turned():
		return Order
	case near:
		return c.small()
	}
	return c.free()
}
