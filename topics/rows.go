package topics

const (
	chunkRows  = 1 << chunkShift // rows of a chunk of vectors
	chunkShift = 8
)

// rows holds unit vectors and their sketches. A row keeps its number until it is removed; then the number is used again.
type rows struct {
	dim      int
	end      int32 // rows 0..end-1 are in use or free
	free     []int32
	used     []int16 // rows in use of each chunk; an empty one may be dropped
	vectors  chunks[float32]
	sketches chunks[sketch] // each is one line of the cache
}

func newRows(dim int) *rows {
	return &rows{dim: dim, vectors: chunks[float32]{width: dim, shift: chunkShift}, sketches: chunks[sketch]{width: 1, shift: chunkShift}}
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
	rs.sketches.grow(row)
	copy(rs.vectors.at(row), v)
	*rs.sketches.ref(row) = *s
	return row
}

// remove frees a row and wipes it: no purged vector stays in memory.
func (rs *rows) remove(row int32) {
	clear(rs.vectors.at(row))
	*rs.sketches.ref(row) = sketch{}
	rs.free = append(rs.free, row)
	c := row / chunkRows
	if rs.used[c]--; rs.used[c] == 0 && len(rs.free) > 2*chunkRows { // a few stay, for the entries that take their place
		rs.vectors.drop(c)
		rs.sketches.drop(c)
	}
}

// vector is the vector of a row itself, not a copy: do not keep it beyond the lock of the owner.
func (rs *rows) vector(row int32) []float32 { return rs.vectors.at(row) }

// sketch is the sketch of a row, as vector.
func (rs *rows) sketch(row int32) *sketch { return rs.sketches.ref(row) }
