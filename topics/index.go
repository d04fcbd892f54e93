package topics

import "cmp"

// index finds the nearest of a set of rows by inner product, which is the cosine of unit vectors. Any number of Search calls may
// run at the same time; no other call may run beside Add or Remove, so the owner of the rows holds a read-write lock.
type index interface {
	// Add takes a row into the set; its vector must not change until Remove. A row of the set stays as it is.
	Add(row int32)
	// Remove takes a row out of the set, before it is removed from the rows: no later Search returns it. A row that is not in the set is
	// ignored.
	Remove(row int32)
	// Search appends the k nearest that score at least gate to dst[:0], best first. A query of another dimension finds nothing.
	Search(q *query, k int, gate float32, dst []neighbor) []neighbor
	// Len is the number of rows of the set.
	Len() int
	// Status is which form serves.
	Status() IndexStatus
}

// neighbor is one answer of an index.
type neighbor struct {
	name  uint64 // that the owner gave to the row
	row   int32
	score float32 // cosine to the query
}

// compare orders neighbours best first; ties go to the lower name, so that an answer does not depend on the order of inserts.
func (a neighbor) compare(b neighbor) int {
	if c := cmp.Compare(b.score, a.score); c != 0 {
		return c
	}
	return cmp.Compare(a.name, b.name)
}

// best keeps the k best items offered, in order. It inserts one by one: k is small.
type best[T interface{ compare(T) int }] struct {
	k     int
	items []T
}

// offer takes x if it is among the k best so far.
func (b *best[T]) offer(x T) {
	if len(b.items) < b.k {
		b.items = append(b.items, x)
	} else if x.compare(b.items[b.k-1]) < 0 {
		b.items[b.k-1] = x
	} else {
		return
	}
	for i := len(b.items) - 1; i > 0 && b.items[i].compare(b.items[i-1]) < 0; i-- {
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
