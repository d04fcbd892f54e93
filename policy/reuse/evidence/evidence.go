// Package evidence counts how often answers that would be reused were right, and estimates from the counts how often they will be.
package evidence

import "reprise/policy/reuse/edits"

// Outcome is the result of a comparison of two answers.
type Outcome uint8

const (
	Unknown   Outcome = iota // it cannot be decided: it counts as nothing
	Same                     // the stored answer is right for the new prompt, too
	Different                // it is not
)

// Source is where an outcome comes from.
type Source uint8

const (
	Explored Source = iota + 1 // the upstream was asked although an answer was there
	Feedback                   // a client or an operator gave a verdict
	Shadow                     // the upstream was asked because the cache only measures
)

// Case is what a decision depended on.
type Case struct {
	Scope      uint64        // of the request; evidence of one scope counts little elsewhere
	Topic      uint64        // of the entry
	Explained  bool          // every difference is a listed edit, or there is none
	Edits      []edits.Class // at most edits.Most
	Similarity float64       // cosine; 0 where none was computed
}

// Sample is an observation.
type Sample struct {
	Case
	Outcome Outcome
	Source  Source
}

// Book holds the counts. It is not safe for concurrent use; Rates is.
type Book struct{ rates *Rates }

// NewBook returns a book without counts.
func NewBook() *Book { return &Book{rates: &Rates{}} }

// Add counts a sample.
func (b *Book) Add(Sample) {}

// Rates returns the estimates from what was counted. They do not change any more.
func (b *Book) Rates() *Rates { return b.rates }

// Rates are estimates. All methods are safe for concurrent use.
type Rates struct{}

// P is the probability that the answer is right in a case, and n how many observations it rests on.
func (r *Rates) P(c *Case) (p float64, n int) {
	p = 0.99
	for _, e := range c.Edits {
		p *= edits.Table[e].Prior
	}
	return p, 0
}
