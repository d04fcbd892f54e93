package sim

import (
	"slices"

	"reprise/policy"
)

// Clairvoyant is an evictor that gets the future: a bound for policies, which cannot run in practice.
type Clairvoyant interface {
	policy.Evictor
	// Foresee is called before each Insert or Hit, with the future of its item: the position of its next use, or the length of
	// the trace where it has none, and how many more requests for it will come.
	Foresee(next, remaining int64)
}

// NextUse returns for each request the position of the next one of the same id, and len(ids) where there is none. The ids
// are dense: it takes memory for the largest. The trace has less than 2^32 requests.
func NextUse(ids []uint32) []uint32 {
	next := make([]uint32, len(ids))
	later := make([]uint32, distinct(ids))
	for i := range later {
		later[i] = uint32(len(ids))
	}
	for i, id := range slices.Backward(ids) {
		next[i], later[id] = later[id], uint32(i)
	}
	return next
}

// Remaining returns for each request how many later ones have the same id, which are dense as in NextUse.
func Remaining(ids []uint32) []uint32 {
	remaining := make([]uint32, len(ids))
	seen := make([]uint32, distinct(ids))
	for i, id := range slices.Backward(ids) {
		remaining[i] = seen[id]
		seen[id]++
	}
	return remaining
}

func distinct(ids []uint32) int {
	if len(ids) == 0 {
		return 0
	}
	return int(slices.Max(ids)) + 1
}

// Belady evicts the item whose next use is furthest in the future, and items without one first: no policy misses less over
// entries of one size (Belady, IBM Systems Journal 5(2), 1966). It never refuses a new item, unless it is made with bypass:
// then the new item may be the victim, which is the bound for policies that filter.
//
// Over sizes in a limit of bytes it is a heuristic: the optimum is NP-hard, and a policy that uses sizes can beat it. Of
// the items without a next use the largest is evicted first. It is no bound either for a cache that answers by similarity,
// where one entry serves requests of many identities.
//
// Every call is O(log n). Memory per resident: some 70 bytes.
type Belady struct {
	bypass bool
	next   int64 // of the coming item
	ranks  ranks // negated next use, negated size
	staged rank  // the newest item unless bypass: in ranks from the next Insert or Hit on
}

var _ Clairvoyant = (*Belady)(nil)

// NewBelady starts empty. With bypass the new item may be the victim.
func NewBelady(bypass bool) *Belady { return &Belady{bypass: bypass} }

// Foresee stores the next use.
func (b *Belady) Foresee(next, _ int64) { b.next = next }

// Insert ranks the item by its next use.
func (b *Belady) Insert(it policy.Item, _ policy.Tick) {
	if it.ID == b.staged.id || b.ranks.has(it.ID) {
		return
	}
	b.settle()
	b.staged = rank{first: -b.next, then: -it.Size, id: it.ID}
	if b.bypass {
		b.settle()
	}
}

// Hit ranks id by its new next use.
func (b *Belady) Hit(id policy.ID, _ policy.Tick) {
	b.settle()
	if r, ok := b.ranks.get(id); ok {
		r.first = -b.next
		b.ranks.set(r)
	}
}

// Victim is the item whose next use is furthest in the future.
func (b *Belady) Victim() (policy.ID, bool) {
	if id, ok := b.ranks.least(); ok {
		return id, true
	}
	return b.staged.id, b.staged.id != 0
}

// Remove drops id.
func (b *Belady) Remove(id policy.ID, _ policy.Reason) {
	if id == b.staged.id {
		b.staged = rank{}
		return
	}
	b.ranks.remove(id)
}

func (b *Belady) settle() {
	if b.staged.id != 0 {
		b.ranks.add(b.staged)
		b.staged = rank{}
	}
}

// CountOracle gets how often each item will be requested again, not when. It evicts the item with the fewest requests left,
// the new item included, and of several the least recently used. Its distance to Belady is the value of the times.
//
// Every call is O(log n). Memory per resident: some 70 bytes.
type CountOracle struct {
	remaining int64 // of the coming item
	ranks     ranks // remaining requests, Seq of the last one
}

var _ Clairvoyant = (*CountOracle)(nil)

// NewCountOracle starts empty.
func NewCountOracle() *CountOracle { return &CountOracle{} }

// Foresee stores the number of requests to come.
func (c *CountOracle) Foresee(_, remaining int64) { c.remaining = remaining }

// Insert ranks the item by the requests to come.
func (c *CountOracle) Insert(it policy.Item, at policy.Tick) {
	if !c.ranks.has(it.ID) {
		c.ranks.add(rank{first: c.remaining, then: at.Seq, id: it.ID})
	}
}

// Hit ranks id again: it has one request less to come.
func (c *CountOracle) Hit(id policy.ID, at policy.Tick) {
	if c.ranks.has(id) {
		c.ranks.set(rank{first: c.remaining, then: at.Seq, id: id})
	}
}

// Victim is the item with the fewest requests to come.
func (c *CountOracle) Victim() (policy.ID, bool) { return c.ranks.least() }

// Remove drops id.
func (c *CountOracle) Remove(id policy.ID, _ policy.Reason) { c.ranks.remove(id) }
