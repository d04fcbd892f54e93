package enginesim

import (
	"math/rand/v2"
	"strings"
)

// Answers have minTokens to maxTokens tokens; only the last sentence may exceed the drawn length.
const (
	minTokens     = 20
	maxTokens     = 120
	sentenceLimit = 18 // no sentence has more tokens
)

var (
	openings = []string{"Here is an answer:", "In short:", "As far as that is known:", "To begin with:", "There is more than one answer:"}
	subjects = []string{"The first step", "A good rule", "The usual way", "Most of the time the answer", "The main idea",
		"In practice the result", "A short summary", "The second point", "Each part", "The safest choice"}
	verbs = []string{"is", "depends on", "begins with", "comes down to", "follows from", "can be checked against",
		"should agree with", "rests on"}
	objects = []string{"a clear plan", "the size of the data", "what was asked before", "one small example",
		"the order of the steps", "a careful reading", "the time that is left", "the tools at hand", "two simple facts"}
	tails = []string{"", "", " in most cases", " for a start", " when nothing else is known", " as a rule", " after a while"}
)

// compose writes a plausible answer. It has no word of the question: an answer that quotes one is not served to another.
func compose(rng *rand.Rand) string {
	var b strings.Builder
	b.WriteString(pick(rng, openings))
	want := minTokens + rng.IntN(maxTokens-sentenceLimit-minTokens+1)
	for tokens := countTokens(b.String()); tokens < want; {
		s := sentence(rng)
		tokens += countTokens(s)
		b.WriteString(s)
	}
	return b.String()
}

func sentence(rng *rand.Rand) string {
	return " " + pick(rng, subjects) + " " + pick(rng, verbs) + " " + pick(rng, objects) + pick(rng, tails) + "."
}

func pick(rng *rand.Rand, from []string) string { return from[rng.IntN(len(from))] }
