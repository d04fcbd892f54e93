package topics

import (
	"math"

	"reprise/embed"
)

const (
	chunkRows = 256  // rows of a full chunk; only the last chunk is ever copied to grow
	slack     = 1e-5 // more than rounding can add to an inner product of unit vectors
	anyScore  = -2   // a minimum that every cosine reaches
)

// rows holds unit vectors in rows 0..n-1, without gaps. Each row is cut into three bands that are stored apart, so that a
// scan with a high minimum reads little more than the first band: by Cauchy and Schwarz a row scores at most
//
//	the inner product so far + |rest of the query| · |rest of the row|
//
// and is skipped as soon as that is below the minimum. The answer is exact. At 384 dimensions and a minimum of 0.97 nearly
// every row ends after the first 64 numbers, at 0.6 after the first 192.
type rows struct {
	dim   int
	n     int
	bands [3]band
}

// band is one range of the numbers of every row.
type band struct {
	from, width int
	chunks      [][]float32
	restNorms   [][]float32 // of each row the norm of the numbers after this band, by chunk
}

func newRows(dim int) rows {
	rs := rows{dim: dim}
	cut := [4]int{0, min(64, dim/6), dim / 2, dim}
	for i := range rs.bands {
		rs.bands[i].from, rs.bands[i].width = cut[i], cut[i+1]-cut[i]
	}
	return rs
}

// add appends v as row n.
func (rs *rows) add(v []float32) {
	for i := range rs.bands {
		rs.bands[i].grow(rs.n)
	}
	rs.n++
	rs.set(rs.n-1, v)
}

// set replaces a row.
func (rs *rows) set(row int, v []float32) {
	for i := range rs.bands {
		b := &rs.bands[i]
		copy(b.at(row), v[b.from:b.from+b.width])
		b.restNorms[row/chunkRows][row%chunkRows] = norm(v[b.from+b.width:])
	}
}

// remove drops a row and moves the last one, the former row n-1, into its place.
func (rs *rows) remove(row int) {
	rs.n--
	for i := range rs.bands {
		b := &rs.bands[i]
		copy(b.at(row), b.at(rs.n))
		b.restNorms[row/chunkRows][row%chunkRows] = b.restNorms[rs.n/chunkRows][rs.n%chunkRows]
		b.shrink(rs.n)
	}
}

// vector appends the numbers of a row to dst.
func (rs *rows) vector(row int, dst []float32) []float32 {
	for i := range rs.bands {
		dst = append(dst, rs.bands[i].at(row)...)
	}
	return dst
}

// query is a vector cut into the same bands as rows.
type query struct {
	parts     [3][]float32
	restNorms [3]float32 // per band the norm of the numbers after it
}

// query cuts v, which must have the right dimension, without copying it.
func (rs *rows) query(v []float32) *query {
	q := new(query)
	for i := range rs.bands {
		b := &rs.bands[i]
		q.parts[i] = v[b.from : b.from+b.width]
		q.restNorms[i] = norm(v[b.from+b.width:])
	}
	return q
}

// score is the cosine of one row to q; false, with no score, where it is below min.
func (rs *rows) score(row int, q *query, min float32) (float32, bool) {
	c, r := row/chunkRows, row%chunkRows
	score := embed.Dot(q.parts[0], rs.bands[0].at(row))
	if score+q.restNorms[0]*rs.bands[0].restNorms[c][r]+slack < min {
		return 0, false
	}
	score += embed.Dot(q.parts[1], rs.bands[1].at(row))
	if score+q.restNorms[1]*rs.bands[1].restNorms[c][r]+slack < min {
		return 0, false
	}
	score += embed.Dot(q.parts[2], rs.bands[2].at(row))
	return score, score >= min
}

// scan calls visit for every row that scores at least min, in order; visit returns the minimum for the next row. Its loop is
// score for row after row, with what is the same for all rows computed once: that halves the time of a row.
func (rs *rows) scan(q *query, min float32, visit func(row int, score float32) float32) {
	b0, b1, b2 := &rs.bands[0], &rs.bands[1], &rs.bands[2]
	for c := range b0.chunks {
		heads, mids, tails := b0.chunks[c], b1.chunks[c], b2.chunks[c]
		rest0, rest1 := b0.restNorms[c], b1.restNorms[c]
		for r := range rest0 {
			score := embed.Dot(q.parts[0], heads[r*b0.width:(r+1)*b0.width])
			if score+q.restNorms[0]*rest0[r]+slack < min {
				continue
			}
			score += embed.Dot(q.parts[1], mids[r*b1.width:(r+1)*b1.width])
			if score+q.restNorms[1]*rest1[r]+slack < min {
				continue
			}
			score += embed.Dot(q.parts[2], tails[r*b2.width:(r+1)*b2.width])
			if score >= min {
				min = visit(c*chunkRows+r, score)
			}
		}
	}
}

// at is the part of a row that lies in this band.
func (b *band) at(row int) []float32 {
	r := row % chunkRows
	return b.chunks[row/chunkRows][r*b.width : (r+1)*b.width]
}

// grow adds row n, of zeros.
func (b *band) grow(n int) {
	if n%chunkRows == 0 {
		b.chunks, b.restNorms = append(b.chunks, nil), append(b.restNorms, nil)
	}
	last := n / chunkRows
	b.chunks[last] = extend(b.chunks[last], b.width, last > 0)
	b.restNorms[last] = extend(b.restNorms[last], 1, last > 0)
}

// extend appends one row of zeros. The capacity doubles up to that of a full chunk, where append would waste a quarter; where many
// chunks are expected it is that of a full one at once, which copies nothing.
func extend(chunk []float32, width int, many bool) []float32 {
	if len(chunk) == cap(chunk) {
		capacity := min(max(2*len(chunk), width), chunkRows*width)
		if many {
			capacity = chunkRows * width
		}
		chunk = append(make([]float32, 0, capacity), chunk...)
	}
	return chunk[:len(chunk)+width]
}

// shrink removes row n, the last one, and wipes it: no purged vector stays in memory.
func (b *band) shrink(n int) {
	last, r := n/chunkRows, n%chunkRows
	clear(b.chunks[last][r*b.width:])
	b.chunks[last], b.restNorms[last] = b.chunks[last][:r*b.width], b.restNorms[last][:r]
	if r == 0 {
		b.chunks[last], b.restNorms[last] = nil, nil
		b.chunks, b.restNorms = b.chunks[:last], b.restNorms[:last]
	}
}

func norm(v []float32) float32 {
	return float32(math.Sqrt(float64(embed.Dot(v, v))))
}
