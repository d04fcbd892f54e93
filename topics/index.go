package topics

import "cmp"

// Index finds the nearest of a set of unit vectors by inner product, which is their cosine. Any number of Search calls may
// run at the same time; no other call may run beside Upsert or Delete, so the owner holds a read-write lock.
type Index interface {
	// Upsert stores a copy of v under id and replaces an earlier one. For a vector of another dimension or of a length other
	// than 1 it returns an error that wraps embed.ErrVector, and changes nothing.
	Upsert(id uint64, v []float32) error
	// Delete removes id; no later Search returns it. An unknown id is ignored.
	Delete(id uint64)
	// Search appends the k nearest to dst[:0], best first, fewer only where fewer are stored. A query of another dimension
	// finds nothing.
	Search(q []float32, k int, dst []Neighbor) []Neighbor
	// Len is the number of vectors stored.
	Len() int
}

// Neighbor is one answer of an Index.
type Neighbor struct {
	ID    uint64
	Score float32 // cosine to the query
}

// compareNeighbors orders neighbours best first; ties go to the lower id, so that an answer does not depend on the order of
// inserts.
func compareNeighbors(a, b Neighbor) int {
	if c := cmp.Compare(b.Score, a.Score); c != 0 {
		return c
	}
	return cmp.Compare(a.ID, b.ID)
}

// best keeps the k best items offered, in order. It inserts one by one: k is small.
type best[T any] struct {
	k       int
	compare func(a, b T) int
	items   []T
}

// offer takes x if it is among the k best so far.
func (b *best[T]) offer(x T) {
	if len(b.items) < b.k {
		b.items = append(b.items, x)
	} else if b.compare(x, b.items[b.k-1]) < 0 {
		b.items[b.k-1] = x
	} else {
		return
	}
	for i := len(b.items) - 1; i > 0 && b.compare(b.items[i], b.items[i-1]) < 0; i-- {
		b.items[i], b.items[i-1] = b.items[i-1], b.items[i]
	}
}

// worst is the item that the next one must exceed; false while there are fewer than k.
func (b *best[T]) worst() (x T, full bool) {
	if len(b.items) < b.k {
		return x, false
	}
	return b.items[b.k-1], true
}
