// Package edits explains why two prompts want the same answer: it aligns their normal forms word by word, and each difference must be an
// edit of a list, in the context that the list demands. Prompts with any other difference do not share an answer.
//
// An edit is listed with the words that may stand before and after it, up to the beginning or the end of the sentence where that matters.
// Words are closed lists: whatever is not in them may be a name, an idiom or a title. The prompt is one short sentence, a question or a plain
// order: behind another sentence, which may make data of the question, nothing is edited.
//
// The evidence behind the list are counts over labelled pairs of questions; their label calls 85 % of the pairs that are equal word by word
// duplicates, so a share of 97 % is as good as certain, and the contexts are narrower than what was counted.
package edits

import "reprise/topics/reuse/normal"

// Version is that of the list. What was decided with another version is decided again.
const Version = 4

// Class is a kind of edit: its row in Table. 0 is none.
type Class uint8

// Most is how many edits two prompts may differ by.
const Most = 4

// row describes a class.
type row struct {
	Name     string  // short, for headers and metrics: "article"
	Contexts string  // where it leaves the answer alone, in words
	Prior    float64 // the probability that it does, before anything was seen here
	Weight   float64 // of that, in observations
	Pairs    int     // labelled pairs that differ by it alone, in wider contexts than the lines of source have now
	Bound    float64 // the lower 95 % bound of their share with one answer; 0: not counted
	Source   string  // of Pairs and Bound
}

// Name is the name of a class.
func (c Class) Name() string { return Table[c].Name }

// Names are the names of classes; not nil.
func Names(all []Class) []string {
	names := make([]string, 0, len(all))
	for _, c := range all {
		names = append(names, c.Name())
	}
	return names
}

// Edit is a difference between two forms that leaves the answer alone.
type Edit struct {
	Class         Class
	Stored, Asked Span
}

// Span is a run of tokens of a form, [From, To).
type Span struct{ From, To int }

// Explain returns the edits by which asked differs from stored, in their order. Where a difference is not listed, or there are more than
// Most, or their combination is refused, ok is false and the last edit, of class 0, is the difference that is not listed. Some edits
// have a direction: an answer to "X and why" may answer "X", not the reverse. Equal forms have no edits. The cost is linear in the
// length of the forms, and constant in what differs.
func Explain(stored, asked *normal.Form) (list []Edit, ok bool) {
	if stored.Equal(asked) {
		return nil, true
	}
	whole := Edit{Stored: Span{0, len(stored.Tokens)}, Asked: Span{0, len(asked.Tokens)}}
	if stored.Fixed != "" || asked.Fixed != "" || stored.Data || asked.Data || stored.Front != asked.Front {
		return []Edit{whole}, false
	}
	stored, asked = stored.Beside(asked), asked.Beside(stored)
	return align(stored.Tokens, asked.Tokens)
}
