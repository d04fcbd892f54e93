package blocks

import (
	"reprise/cmd/reprise-lab/policies/keyed"
	"reprise/cmd/reprise-lab/policies/pinning"
	"reprise/cmd/reprise-lab/sim"
	"reprise/policy"
)

// Bounds, which cannot run in practice: they know the rest of the trace.
const (
	// Infinite keeps every block.
	Infinite = "infinite"
	// Belady evicts the block whose next use is furthest away, the deepest first among those without one.
	Belady = "belady"
	// Oracle is lpc with the truth in place of a prediction: whether the conversation goes on (papers/004 §B.4).
	Oracle = "oracle"
)

// belady evicts the block of the latest next use. A use is a position in the sequence of all blocks of all prompts, so that of the blocks
// of one request the deepest is the latest, and no two blocks have one next use.
type belady struct {
	keyed keyed.Entries[policy.ID, int64] // the next use, of which the key is the negative
	next  int64                           // use of the coming item
}

var (
	_ sim.Clairvoyant = (*belady)(nil)
	_ pinning.Pinner  = (*belady)(nil)
)

// Foresee stores the next use of the coming item.
func (b *belady) Foresee(next, _ int64) { b.next = next }

// Insert ranks the item by its next use.
func (b *belady) Insert(it policy.Item, _ policy.Tick) {
	if _, ok := b.keyed.Slots.Find(it.ID); !ok {
		b.rank(b.keyed.Slots.Add(it.ID, b.next))
	}
}

// Hit stores the next use that was foreseen.
func (b *belady) Hit(id policy.ID, _ policy.Tick) {
	if slot, ok := b.keyed.Slots.Find(id); ok {
		*b.keyed.Slots.At(slot) = b.next
		b.rank(slot)
	}
}

// Victim names the block of the latest next use.
func (b *belady) Victim() (policy.ID, bool) { return b.keyed.Least() }

// Remove drops id.
func (b *belady) Remove(id policy.ID, _ policy.Reason) {
	if slot, ok := b.keyed.Slots.Find(id); ok {
		b.keyed.Drop(slot)
	}
}

// Pin keeps id.
func (b *belady) Pin(id policy.ID) {
	if slot, ok := b.keyed.Slots.Find(id); ok {
		b.keyed.Pin(slot)
	}
}

// Unpin ranks id again.
func (b *belady) Unpin(id policy.ID, _ policy.Tick) {
	if slot, ok := b.keyed.Slots.Find(id); ok && b.keyed.Unpin(slot) {
		b.rank(slot)
	}
}

func (b *belady) rank(slot uint32) { b.keyed.Heap.Set(slot, -float64(*b.keyed.Slots.At(slot))) }

// future is the next use of the blocks of a trace.
type future struct {
	next   []uint32 // of the blocks of each request, those of its prompt and then of its answer
	starts []int    // of each request, where in next
}

// foresight returns for each block of each request the position of its next use in a prompt, among all of them. A block without one has a
// position after all.
func foresight(t *Trace) *future {
	f, total := &future{starts: make([]int, len(t.Requests))}, 0
	for i := range t.Requests {
		f.starts[i] = total
		total += len(t.Requests[i].Blocks) + len(t.Requests[i].Filled)
	}
	f.next = make([]uint32, total)
	later := make([]uint32, t.Distinct) // position + 1; 0: none
	for i := len(t.Requests) - 1; i >= 0; i-- {
		r, at := &t.Requests[i], f.starts[i]
		for n := range len(r.Blocks) + len(r.Filled) {
			if use := later[r.block(n)]; use != 0 {
				f.next[at+n] = use - 1
			} else {
				f.next[at+n] = uint32(total + n)
			}
		}
		for n, b := range r.Blocks {
			later[b] = uint32(at + n + 1)
		}
	}
	return f
}
