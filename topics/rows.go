package topics

import "math/bits"

const (
	anyScore   = -2 // a minimum that every cosine reaches
	firstWords = 4  // three are read faster, but let 2 % of the rows pass at the route gate instead of 0.6 %, each a miss of the cache
	firstBits  = 64 * firstWords
	chunkRows  = 1 << chunkShift // rows of a chunk of vectors
	chunkShift = 8
)

// A sketch is kept in three parts, because a scan that rejects a row by one of them reads no other: a head of one word, a middle, and a tail.
type (
	middle [firstWords - 1]uint64
	tail   [sketchWords - firstWords]uint64
)

// rows holds unit vectors and their sketches. A row keeps its number until it is removed; then the number is used again.
type rows struct {
	dim     int
	end     int32 // rows 0..end-1 are in use or free
	free    []int32
	used    []int16 // rows in use of each chunk; all but the heads of an empty one may be dropped
	vectors chunks[float32]
	heads   chunks[uint64] // at the hit gate they alone reject nearly every row
	middles chunks[middle]
	tails   chunks[tail]
}

func newRows(dim int) *rows {
	return &rows{
		dim: dim, vectors: chunks[float32]{width: dim, shift: chunkShift},
		heads:   chunks[uint64]{width: 1, shift: scanShift},
		middles: chunks[middle]{width: 1, shift: chunkShift}, tails: chunks[tail]{width: 1, shift: chunkShift},
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
	rs.middles.grow(row)
	rs.tails.grow(row)
	copy(rs.vectors.at(row), v)
	*rs.heads.ref(row) = s[0]
	*rs.middles.ref(row), *rs.tails.ref(row) = middle(s[1:firstWords]), tail(s[firstWords:])
	return row
}

// remove frees a row and wipes it: no purged vector stays in memory.
func (rs *rows) remove(row int32) {
	clear(rs.vectors.at(row))
	*rs.heads.ref(row), *rs.middles.ref(row), *rs.tails.ref(row) = 0, middle{}, tail{}
	rs.free = append(rs.free, row)
	c := row / chunkRows
	if rs.used[c]--; rs.used[c] == 0 && len(rs.free) > 2*chunkRows { // a few stay, for the entries that take their place
		rs.vectors.drop(c)
		rs.middles.drop(c)
		rs.tails.drop(c)
	}
}

// vector is the vector of a row itself, not a copy: do not keep it beyond the lock of the owner.
func (rs *rows) vector(row int32) []float32 { return rs.vectors.at(row) }

// sketch is a copy of the sketch of a row.
func (rs *rows) sketch(row int32) (s sketch) {
	s[0] = *rs.heads.ref(row)
	copy(s[1:], rs.middles.ref(row)[:])
	copy(s[firstWords:], rs.tails.ref(row)[:])
	return s
}

// kept reports whether the chunk of a row was not dropped.
func (rs *rows) kept(row int32) bool { return rs.used[row/chunkRows] > 0 }

// first is the number of the first bits in which the sketch of a row differs from q.
func (rs *rows) first(row int32, q *sketch) int {
	m := rs.middles.ref(row)
	return bits.OnesCount64(*rs.heads.ref(row)^q[0]) + bits.OnesCount64(m[0]^q[1]) + bits.OnesCount64(m[1]^q[2]) + bits.OnesCount64(m[2]^q[3])
}

// rest is the number of the other bits in which it differs.
func (rs *rows) rest(row int32, q *sketch) int {
	t := rs.tails.ref(row)
	return bits.OnesCount64(t[0]^q[4]) + bits.OnesCount64(t[1]^q[5]) + bits.OnesCount64(t[2]^q[6]) + bits.OnesCount64(t[3]^q[7])
}
