// Package evidence counts how often answers that would be reused were right, and says from the counts whether a scope has earned that they
// are.
//
// Evidence belongs to one scope, and in it to one kind: equal normal forms, listed edits, near vectors. A scope has shown nothing at first:
// its first pairs are compared before one is served (see [Trust]). What one tenant or scope has shown moves no other one. The only thing that
// scopes share is a credit: scopes of one family, whose system messages differ by dates and numbers alone, have to show less once five of
// them have shown it, and no credit is left after the first pair that came out different in one of them.
//
// Within what a scope trusts, a class of edits and a band of similarities have estimates of their own: the mean of a Beta posterior over the
// prior of the table of edits, or of the embedder's gate, and what this scope has seen.
package evidence

import (
	"slices"

	"reprise/topics/reuse/edits"
)

// Outcome is the result of a comparison of two answers.
type Outcome uint8

const (
	Unknown   Outcome = iota // it cannot be decided
	Same                     // the stored answer is right for the new prompt, too
	Different                // it is not
)

// Source is where an outcome comes from.
type Source uint8

const (
	Explored Source = iota + 1 // the upstream was asked although an answer was there
	Feedback                   // a client gave a verdict: one that an answer was wrong has more of the scope's answers compared, and nothing else counts
	Shadow                     // the upstream was asked because the cache only measures
	Operator                   // an operator gave a verdict: it counts like Explored, but in no Estimate
	Repeated                   // both answers are to one prompt: only Closeness and Rule count
)

// Kind is what makes an answer to another prompt a candidate.
type Kind uint8

const (
	Form    Kind = iota // the normal forms of the prompts are equal
	Edits               // every difference is a listed edit
	Vectors             // the vectors are near
	kinds
)

// kindNames are the names of the kinds.
var kindNames = [kinds]string{"form", "edits", "vectors"}

// String is the name of a kind.
func (k Kind) String() string { return kindNames[k] }

// Case is what a decision depended on.
type Case struct {
	Tenant     uint64        // its ID
	Scope      uint64        // of the request, inside the tenant, with everything that stands before the prompt
	Family     uint64        // of scopes that share a credit; 0: none
	Space      uint64        // of the similarity: ID of Embedder.Space; that of another space is not counted
	Question   uint64        // a digest of what is asked: of how many questions trust is earned counts; 0: not known
	Explained  bool          // every difference is a listed edit, or there is none
	Edits      []edits.Class // at most edits.Most
	Similarity float64       // cosine; 0 where none was computed
	Hit        bool          // the answer would be served if it were not for exploring or measuring
}

// Kind is the kind of evidence of a case.
func (c *Case) Kind() Kind {
	switch {
	case !c.Explained:
		return Vectors
	case len(c.Edits) > 0:
		return Edits
	}
	return Form
}

// Sample is an observation.
type Sample struct {
	Case
	Outcome   Outcome
	Source    Source
	Closeness float64 // of the answers, in [0, 1]
	Rule      uint8   // by which they differ: compare.Result.Rule
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

// Add counts a sample. There is room for some 4,000 scopes and as many families, after which, of the older half of the tenant that
// has most, the one that has shown least is dropped. It costs 10 to 50 µs.
func (b *Book) Add(s Sample) {
	if s.Outcome > Different || s.Source < Explored || s.Source > Repeated {
		return
	}
	var buffer [edits.Most + 1]key
	list, ok := keys(buffer[:0], &s.Case, b.rates.space)
	if !ok && s.Source != Repeated {
		return
	}
	r := *b.rates
	b.rates = &r
	one := r.scopes.find(scopeID(&s.Case))
	one.id, one.tenant = scopeID(&s.Case), s.Tenant
	if s.Source == Repeated {
		one.noise.add(s.Closeness, s.Rule)
		r.putScope(one)
		return
	}
	if s.Hit && s.Outcome != Unknown && (s.Source == Explored || s.Source == Shadow) {
		r.served = r.served.with(append(list, all), tallyOf(s.Outcome))
	}
	kind := &one.shown[s.Kind()]
	if s.Source == Feedback {
		kind.doubt(s.Outcome)
		r.putScope(one)
		return
	}
	if !kind.count(&s) {
		r.putScope(one) // it has the question
		return
	}
	if s.Outcome != Unknown && s.Kind() != Form {
		one.cells = one.cells.with(list, tallyOf(s.Outcome))
	}
	r.putScope(one)
	if s.Family != 0 && s.Outcome != Unknown {
		f := r.families.find(familyID(&s.Case))
		f.id, f.tenant = familyID(&s.Case), s.Tenant
		credit := &f.shown[s.Kind()]
		switch {
		case s.Outcome == Different:
			*credit = shown{}
		case kind.same == 1:
			credit.same = min(credit.same+1, mostSame)
		default:
			credit.unknown = min(credit.unknown+1, mostSame)
		}
		r.families.put(f)
	}
}

// putScope sets what a scope has shown.
func (r *Rates) putScope(one row) {
	before, dropped := r.scopes.find(one.id), r.scopes.put(one)
	for _, old := range []row{before, dropped} {
		if old.wantsNoise() {
			r.curious--
		}
	}
	if one.wantsNoise() {
		r.curious++
	}
}

func tallyOf(o Outcome) tally {
	if o == Different {
		return tally{wrong: 1}
	}
	return tally{same: 1}
}

// row is what one scope has shown, or one family: of a family shown has since the last pair that came out different the scopes that have shown
// one, in same, and their other pairs, in unknown.
type row struct {
	id, tenant uint64
	shown      [kinds]shown
	noise      Noise
	cells      cells // of classes and bands
}

// Rows are kept by shards, so that adding copies one shard and not the table.
const (
	shards = 64
	depth  = 64 // rows of a shard
)

// table has rows by id; a copy of it does not change with it. The rows of a shard are in the order of their last change, the oldest
// first.
type table struct{ shards [shards][]row }

func shard(id uint64) int { return int(mix(id) >> 58) }

// mix is the finalizer of splitmix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Mix joins two digests to one.
func Mix(a, b uint64) uint64 { return mix(a+1) ^ b }

func scopeID(c *Case) uint64  { return Mix(c.Tenant, c.Scope) }
func familyID(c *Case) uint64 { return Mix(c.Tenant, c.Family) }

// find is the row of an id; one without counts if there is none.
func (t *table) find(id uint64) (r row) {
	for i := range t.shards[shard(id)] {
		if r := &t.shards[shard(id)][i]; r.id == id {
			return *r
		}
	}
	return row{}
}

// put sets a row. A full shard drops the oldest row of the tenant that has most rows there, which put returns: a tenant with many scopes replaces
// its own.
func (t *table) put(r row) (dropped row) {
	s := &t.shards[shard(r.id)]
	old := *s
	drop := slices.IndexFunc(old, func(o row) bool { return o.id == r.id })
	if drop < 0 && len(old) >= depth {
		drop = least(old, crowded(old))
		dropped = old[drop]
	}
	next := make([]row, 0, len(old)+1)
	for i, o := range old {
		if i != drop {
			next = append(next, o)
		}
	}
	*s = append(next, r)
	return dropped
}

// least is the index of the row that has shown least, of the older half of those of the tenant of the row at first. A scope that is asked once takes no
// place from one that has earned trust, or lost it, unless all of that half have.
func least(rows []row, first int) (at int) {
	n := 0
	for _, r := range rows {
		if r.tenant == rows[first].tenant {
			n++
		}
	}
	at = first
	for i, seen := first, 0; i < len(rows) && seen < (n+1)/2; i++ {
		if rows[i].tenant != rows[first].tenant {
			continue
		}
		if seen++; rows[i].compared() < rows[at].compared() {
			at = i
		}
	}
	return at
}

// compared is how much a row has shown.
func (r *row) compared() (n uint32) {
	for i := range r.shown {
		n += r.shown[i].same + makesUp*r.shown[i].wrong
	}
	return n
}

// crowded is the index of the oldest row of the tenant that has most.
func crowded(rows []row) (oldest int) {
	most := 0
	for i, r := range rows {
		n := 0
		for _, o := range rows[i:] {
			if o.tenant == r.tenant {
				n++
			}
		}
		if n > most {
			oldest, most = i, n
		}
	}
	return oldest
}
