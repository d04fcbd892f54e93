package reuse

import (
	"strings"

	"reprise/topics/reuse/evidence"
)

const (
	longestAnswer = 64 << 10 // bytes; longer answers are compared as they are
	briefAnswer   = 12       // content words up to which an answer states one fact
	fullAnswer    = 25       // content words from which two texts on one question have words in common
	alikeAnswers  = 8        // texts of which no more than one word in so many differs say the same only if no content differs
	closeTexts    = 0.75     // least share of content common to texts that are close, either way
	closeOrder    = 0.30     // least share of neighbouring content words common to texts that are close
	apartTexts    = 0.06     // greatest share of content common to texts on different questions
)

// SameAnswer reports whether two answers of models give the same information.
//
//   - Same: they are equal without letter case, white space, marks of Markdown and courtesy ("Sure!", "I hope this helps!"); or their
//     numbers, names, code and negations are equal, no word of one is opposed to a word of the other, and the texts are close. Texts
//     that are nearly equal, word for word, are close if only words of grammar differ, and none that leads or has a tense. Others
//     are if they share 75 % of their content words, by length and in both directions, and 30 % of the pairs of neighbours among
//     these, and none dwells on a word that the other does not have. A brief answer may be part of a sentence ("1889", "It was
//     completed in 1889.").
//   - Different: one says yes and the other no; or both state one fact in up to 12 content words, with other numbers or other names; or
//     both have 25 content words or more, and less than 6 % of these in common.
//   - Unknown: everything else. Answers that a model words freely are mostly Unknown.
//
// Its errors on testdata/answers.tsv are those that TestAnswers prints. Poems, jokes and other works of invention of one prompt may
// be Different. It is symmetric. The cost is linear, less than 1 ms for two answers of 2,000 words.
func SameAnswer(a, b string) evidence.Outcome {
	if a == b && strings.TrimSpace(a) != "" {
		return evidence.Same
	}
	if len(a) > longestAnswer || len(b) > longestAnswer {
		return evidence.Unknown
	}
	if a > b {
		a, b = b, a
	}
	x, y := readAnswer(a), readAnswer(b)
	switch {
	case len(x.tokens) == 0 || len(y.tokens) == 0:
		return evidence.Unknown
	case equalTokens(x.tokens, y.tokens):
		return evidence.Same
	case x.stance*y.stance < 0, x.otherFact(y), x.apart(y):
		return evidence.Different
	case x.stance == y.stance && x.sameFacts(y) && (x.near(y) || x.within(y) || y.within(x)):
		return evidence.Same
	}
	return evidence.Unknown
}
