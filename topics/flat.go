package topics

import (
	"math/bits"
	"slices"
)

const (
	flatWords = 3 // the fewest that reject nearly all rows at the route gate
	flatBits  = 64 * flatWords
	noSlot    = -1
)

// Flat is the Index that scans the sketches of its rows. Add and Remove cost O(1), Search some 2 ns a row; it loses the nearest row
// with a probability below 2e-4 (see scan). A row costs 32 bytes.
type Flat struct {
	rows   *rows
	name   func(row int32) uint64
	heads  chunks[uint64] // the first 192 bits of each sketch, by slot
	rowOf  []int32        // of each slot
	slotOf []int32        // of each row, or noSlot
}

var _ Index = (*Flat)(nil)

// NewFlat makes an empty index of rows. name returns the Name of a row in the set.
func NewFlat(rs *rows, name func(row int32) uint64) *Flat {
	return &Flat{rows: rs, name: name, heads: chunks[uint64]{width: flatWords}}
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
	copy(f.heads.at(slot), s[:])
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
	if last%chunkRows == 0 {
		f.heads.drop(last / chunkRows)
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
		n := Neighbor{Name: f.name(row), Row: row, Score: score}
		if !slices.Contains(found.items, n) { // seen again in another slot
			found.offer(n)
		}
		if last, full := found.worst(); full {
			return last.Score
		}
		return gate
	})
	for to := len(f.rowOf); to > 0; {
		from := (to - 1) / scanRows * scanRows
		s.check(f.near(s, int32(from), int32(to)))
		if from > 0 {
			s.pause()
		}
		to = min(from, len(f.rowOf))
	}
	return found.items
}

// near returns the rows of a range of slots that their first bits do not reject.
func (f *Flat) near(s *scan, from, to int32) []int32 {
	q, cut := &s.query.sketch, cutFor(flatBits, s.min, s.z)
	s.near = s.near[:0]
	for ; from < to; from += chunkRows {
		s.near = nearSlots(f.heads.part(from, to), f.rowOf[from:], q, cut, s.near)
	}
	return s.near
}

// nearSlots appends the rows whose first bits differ from q in at most cut bits. It has no branch that depends on a row: one in
// fifty passes at the route gate, and a branch that the processor cannot predict costs as much as eight rows.
func nearSlots(heads []uint64, rowOf []int32, q *sketch, cut int, dst []int32) []int32 {
	q0, q1, q2 := q[0], q[1], q[2]
	at, n := len(dst), len(heads)/flatWords
	dst = slices.Grow(dst, n)[:at+n]
	for _, row := range rowOf[:n] {
		d := bits.OnesCount64(heads[0]^q0) + bits.OnesCount64(heads[1]^q1) + bits.OnesCount64(heads[2]^q2)
		dst[at] = row
		at += int(uint(d-cut-1) >> 63)
		heads = heads[flatWords:]
	}
	return dst[:at]
}
