package topics

import (
	"math/bits"
	"slices"

	"reprise/topics/internal/hamming"
)

const noSlot = -1

// Flat is the Index that scans the sketches of its rows. Add and Remove cost O(1), Search some 0.9 ns a row (see package hamming); it loses the
// nearest row with a probability below 2e-4 (see scan). A row costs 40 bytes.
type Flat struct {
	rows   *rows
	name   func(row int32) uint64
	heads  chunks[firstPart] // of each slot
	rowOf  []int32           // of each slot
	slotOf []int32           // of each row, or noSlot
}

var _ Index = (*Flat)(nil)

// firstPart is the first bits of a sketch.
type firstPart = [firstWords]uint64

// NewFlat makes an empty index of rows. name returns the Name of a row in the set.
func NewFlat(rs *rows, name func(row int32) uint64) *Flat {
	return &Flat{rows: rs, name: name, heads: chunks[firstPart]{width: 1, shift: scanShift}}
}

// Add implements Index.
func (f *Flat) Add(row int32) {
	if f.has(row) {
		return
	}
	for int(row) >= len(f.slotOf) {
		f.slotOf = append(f.slotOf, noSlot)
	}
	slot := int32(len(f.rowOf))
	f.slotOf[row], f.rowOf = slot, append(f.rowOf, row)
	f.heads.grow(slot)
	s := f.rows.sketch(row)
	f.heads.at(slot)[0] = firstPart(s[:firstWords])
}

// Remove implements Index. The last slot takes the place of the one that is removed.
func (f *Flat) Remove(row int32) {
	if !f.has(row) {
		return
	}
	slot, last := f.slotOf[row], int32(len(f.rowOf)-1)
	copy(f.heads.at(slot), f.heads.at(last))
	clear(f.heads.at(last))
	f.rowOf[slot] = f.rowOf[last]
	f.slotOf[f.rowOf[slot]] = slot
	f.slotOf[row] = noSlot
	f.rowOf = f.rowOf[:last]
	if last%scanRows == 0 {
		f.heads.drop(last / scanRows)
	}
}

// has reports whether a row is in the index.
func (f *Flat) has(row int32) bool { return int(row) < len(f.slotOf) && f.slotOf[row] != noSlot }

// Len implements Index.
func (f *Flat) Len() int { return len(f.rowOf) }

// Search implements Index. It scans from the last slot to the first, because the last one may take the place of another during a
// pause: so none is missed.
func (f *Flat) Search(q *query, k int, gate float32, dst []Neighbor) []Neighbor {
	found := best[Neighbor]{k: k, compare: compareNeighbors, items: dst[:0]}
	if k < 1 || len(q.vector) != f.rows.dim {
		return found.items
	}
	s := newScan(f.rows, q, nearZ, gate, func(row int32, score float32) float32 {
		if f.has(row) && !slices.ContainsFunc(found.items, func(n Neighbor) bool { return n.Row == row }) { // it left, or was seen in another slot
			found.offer(Neighbor{Name: f.name(row), Row: row, Score: score})
		}
		if last, full := found.worst(); full {
			return last.Score
		}
		return gate
	})
	near := q.near[:0]
	for to := len(f.rowOf); to > 0; {
		from := (to - 1) / scanRows * scanRows
		near = f.near(from, to, q, cutFor(firstBits, s.min, s.z), near)
		if len(near) >= checkLen {
			s.check(near)
			near = near[:0]
		}
		if from > 0 {
			s.pause()
		}
		to = min(from, len(f.rowOf))
	}
	s.check(near)
	q.near = near
	return found.items
}

// near appends to dst the rows of slots from to to-1 whose first bits differ from q in at most cut bits, with the number of those bits.
// The slots are in one chunk.
func (f *Flat) near(from, to int, q *query, cut int, dst []candidate) []candidate {
	heads := f.heads.part(int32(from), int32(to))
	set, first := q.set[:(len(heads)+63)/64], (*firstPart)(q.sketch[:firstWords])
	hamming.Near256(set, heads, first, cut)
	q.rows = appendSet(q.rows[:0], set, 0)
	for _, i := range q.rows {
		h := &heads[i]
		d := bits.OnesCount64(h[0]^first[0]) + bits.OnesCount64(h[1]^first[1]) + bits.OnesCount64(h[2]^first[2]) + bits.OnesCount64(h[3]^first[3])
		dst = append(dst, candidateOf(f.rowOf[from+int(i)], d))
	}
	return dst
}
