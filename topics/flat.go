package topics

import (
	"math/bits"
	"slices"
)

const noSlot = -1

// flat is the index that scans the sketches of its rows. Add and Remove cost O(1), Search some 0.9 ns a row (see form); it loses the
// nearest row with a probability below 2e-4 (see scan). A row costs 40 bytes.
type flat struct {
	rows   *rows
	names  namer
	heads  chunks[firstPart] // of each slot
	rowOf  []int32           // of each slot
	slotOf []int32           // of each row, or noSlot
}

var _ index = (*flat)(nil)

// namer returns the name of a row in the set.
type namer interface{ nameOf(row int32) uint64 }

// firstPart is the first bits of a sketch.
type firstPart = [firstWords]uint64

// newFlat makes an empty index of rows.
func newFlat(rs *rows, names namer) *flat {
	return &flat{rows: rs, names: names, heads: chunks[firstPart]{width: 1, shift: scanShift}}
}

// Add implements index.
func (f *flat) Add(row int32) {
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

// Remove implements index. The last slot takes the place of the one that is removed.
func (f *flat) Remove(row int32) {
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
func (f *flat) has(row int32) bool { return int(row) < len(f.slotOf) && f.slotOf[row] != noSlot }

// Len implements index.
func (f *flat) Len() int { return len(f.rowOf) }

// Search implements index. It scans from the last slot to the first, because the last one may take the place of another during a
// pause: so none is missed.
func (f *flat) Search(q *query, k int, gate float32, dst []neighbor) []neighbor {
	found := nearest{of: f, gate: gate, best: best[neighbor]{k: k, items: dst[:0]}}
	if k < 1 || len(q.vector) != f.rows.dim {
		return found.items
	}
	s := newScan(f.rows, q, nearZ, gate, &found)
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

// nearest is the visitor that keeps the best rows of a set.
type nearest struct {
	best[neighbor]
	of   *flat
	gate float32
}

// visit takes a row, unless it left during a pause, or was seen in another slot.
func (n *nearest) visit(row int32, score float32) (min float32) {
	if n.of.has(row) && !slices.ContainsFunc(n.items, func(x neighbor) bool { return x.row == row }) {
		n.offer(neighbor{n.of.names.nameOf(row), row, score})
	}
	return n.min()
}

// min is the score that the next row must reach.
func (n *nearest) min() float32 {
	if last, full := n.worst(); full {
		return last.score
	}
	return n.gate
}

// near appends to dst the rows of slots from to to-1 whose first bits differ from q in at most cut bits, with the number of those bits.
// The slots are in one chunk.
func (f *flat) near(from, to int, q *query, cut int, dst []candidate) []candidate {
	heads := f.heads.part(int32(from), int32(to))
	set, first := q.set[:(len(heads)+63)/64], (*firstPart)(q.sketch[:firstWords])
	near256(set, heads, first, cut)
	q.rows = appendSet(q.rows[:0], set, 0)
	for _, i := range q.rows {
		h := &heads[i]
		d := bits.OnesCount64(h[0]^first[0]) + bits.OnesCount64(h[1]^first[1]) + bits.OnesCount64(h[2]^first[2]) + bits.OnesCount64(h[3]^first[3])
		dst = append(dst, candidateOf(f.rowOf[from+int(i)], d))
	}
	return dst
}
