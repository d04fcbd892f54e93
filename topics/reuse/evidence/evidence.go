// Package evidence counts how often answers that would be reused were right, and estimates from the counts how often they will be.
//
// An estimate is the mean of a Beta posterior, in levels: the prior of the table of edits, then what all tenants saw, then this tenant,
// then this scope. The mean of one level is the prior of the next one, with a fixed weight. For several edits the means are multiplied:
// products of lower bounds would serve nothing, and products of means were about right where they were measured.
//
// No tenant decides for another one. What one tenant saw counts among all as a few observations at most, as many are taken off the sum
// again, and verdicts of clients count in their own scope alone.
package evidence

import "reprise/topics/reuse/edits"

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
	Feedback                   // a client gave a verdict: it counts in its scope alone, and in no Estimate
	Shadow                     // the upstream was asked because the cache only measures
	Operator                   // an operator gave a verdict: it counts like Explored, but in no Estimate
)

// Case is what a decision depended on.
type Case struct {
	Tenant     uint64        // its ID; its evidence counts little elsewhere
	Scope      uint64        // of the request, inside the tenant
	Topic      uint64        // of the entry, inside the scope; 0: none
	Space      uint64        // of the similarity: ID of Embedder.Space; that of another space is not counted
	Explained  bool          // every difference is a listed edit, or there is none
	Edits      []edits.Class // at most edits.Most
	Similarity float64       // cosine; 0 where none was computed
	Hit        bool          // the answer would be served if it were not for exploring or measuring
}

// Sample is an observation.
type Sample struct {
	Case
	Outcome Outcome
	Source  Source
}

// Embedder is the one whose similarities are counted.
type Embedder struct {
	Space string  // embed.Embedder.Space
	Gate  float64 // its default hit gate: from there on a similarity is trusted before anything was seen
}

// ID is the digest of a name, such as a space or a tenant, for a Case: FNV-1a.
func ID(name string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return h
}

// Book holds the counts. It is not safe for concurrent use; Rates is.
type Book struct{ rates *Rates }

// NewBook returns a book without counts.
func NewBook(e Embedder) *Book { return &Book{&Rates{embedder: e, space: ID(e.Space)}} }

// Rates returns the estimates from what was counted. They do not change any more; Add makes new ones, which share most memory with
// them.
func (b *Book) Rates() *Rates { return b.rates }

// Add counts a sample. The order of samples does not matter as long as there are fewer than some 4,000 scopes and topics, after which
// the oldest ones are dropped. It costs 10 to 50 µs.
func (b *Book) Add(s Sample) {
	if s.Outcome != Same && s.Outcome != Different || s.Source < Explored || s.Source > Operator {
		return
	}
	var buffer [edits.Most + 1]key
	list, ok := keys(buffer[:0], &s.Case, b.rates.space)
	if !ok {
		return
	}
	r := *b.rates
	one := tally{same: 1}
	if s.Outcome == Different {
		one = tally{wrong: 1}
	}
	if s.Hit && (s.Source == Explored || s.Source == Shadow) {
		r.served = r.served.with(append(list, all), one)
	}
	if s.Source != Feedback {
		r.putTenant(s.Tenant, r.tenants.find(s.Tenant).with(list, one))
	}
	r.scopes.put(row{scopeID(&s.Case), s.Tenant, r.scopes.find(scopeID(&s.Case)).with(list, one)})
	if s.Topic != 0 {
		r.topics.put(row{topicID(&s.Case), s.Tenant, r.topics.find(topicID(&s.Case)).with([]key{kind(list[0])}, one)})
	}
	b.rates = &r
}

// putTenant sets the counts of a tenant, and the sums of all tenants with them.
func (r *Rates) putTenant(id uint64, now cells) {
	r.global.move(r.tenants.find(id), -1)
	r.global.move(now, 1)
	r.global.move(r.tenants.put(row{id, id, now}), -1)
}
