package topics

import "math/bits"

const (
	anyScore   = -2 // a minimum that every cosine reaches
	tailWords  = sketchWords - 1
	chunkRows  = 1 << chunkShift // rows of a chunk of vectors
	chunkShift = 8
)

// tail is a sketch without its first word.
type tail [sketchWords - 1]uint64

// rows holds unit vectors and their sketches. A row keeps its number until it is removed; then the number is used again.
type rows struct {
	dim     int
	end     int32 // rows 0..end-1 are in use or free
	free    []int32
	used    []int16 // rows in use of each chunk; the vectors and tails of an empty one may be dropped
	vectors chunks[float32]
	heads   chunks[uint64] // the first 64 bits of each sketch: at the hit gate they alone reject nearly every row
	tails   chunks[tail]   // the other bits
}

func newRows(dim int) *rows {
	return &rows{
		dim: dim, vectors: chunks[float32]{width: dim, shift: chunkShift},
		heads: chunks[uint64]{width: 1, shift: scanShift}, tails: chunks[tail]{width: 1, shift: chunkShift},
	}
}

// add stores copies of v and of its sketch, and returns their row.
func (rs *rows) add(v []float32, s *sketch) (row int32) {
	if last := len(rs.free) - 1; last >= 0 {
		row, rs.free = rs.free[last], rs.free[:last]
	} else {
		row = rs.end
		rs.end++
	}
	if int(row/chunkRows) == len(rs.used) {
		rs.used = append(rs.used, 0)
	}
	rs.used[row/chunkRows]++
	rs.vectors.grow(row)
	rs.heads.grow(row)
	rs.tails.grow(row)
	copy(rs.vectors.at(row), v)
	*rs.heads.ref(row) = s[0]
	*rs.tails.ref(row) = tail(s[1:])
	return row
}

// remove frees a row and wipes it: no purged vector stays in memory.
func (rs *rows) remove(row int32) {
	clear(rs.vectors.at(row))
	*rs.heads.ref(row), *rs.tails.ref(row) = 0, tail{}
	rs.free = append(rs.free, row)
	c := row / chunkRows
	if rs.used[c]--; rs.used[c] == 0 && len(rs.free) > 2*chunkRows { // a few stay, for the entries that take their place
		rs.vectors.drop(c)
		rs.tails.drop(c)
	}
}

// vector is the vector of a row itself, not a copy: do not keep it beyond the lock of the owner.
func (rs *rows) vector(row int32) []float32 { return rs.vectors.at(row) }

// sketch is a copy of the sketch of a row.
func (rs *rows) sketch(row int32) (s sketch) {
	s[0] = *rs.heads.ref(row)
	copy(s[1:], rs.tails.ref(row)[:])
	return s
}

// distance is the number of bits in which the sketch of a row differs from q.
func (rs *rows) distance(row int32, q *sketch) int {
	t := rs.tails.ref(row)
	return bits.OnesCount64(*rs.heads.ref(row)^q[0]) +
		bits.OnesCount64(t[0]^q[1]) + bits.OnesCount64(t[1]^q[2]) + bits.OnesCount64(t[2]^q[3]) + bits.OnesCount64(t[3]^q[4]) +
		bits.OnesCount64(t[4]^q[5]) + bits.OnesCount64(t[5]^q[6]) + bits.OnesCount64(t[6]^q[7])
}
