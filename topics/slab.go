package topics

import (
	"math"

	"reprise/embed"
)

const (
	chunkRows = 256  // rows of a full chunk; only the last chunk of a slab is ever copied to grow
	slack     = 1e-5 // what rounding may add to an inner product of unit vectors, with room
	never     = -2   // a minimum that every cosine reaches
)

// slab holds unit vectors in rows 0..n-1, without gaps. Each row is cut into three bands that are stored apart, so that a
// scan with a high minimum reads little more than the first: by Cauchy and Schwarz a row scores at most
//
//	the inner product so far + |what is left of the query| · |what is left of the row|
//
// and is left as soon as that cannot reach the minimum. The answer is exact. At 384 dimensions and a minimum of 0.97 nearly
// every row ends after the first 64 numbers, at 0.6 after the first 192.
type slab struct {
	dim   int
	n     int
	bands [3]band
}

// band is one range of the numbers of every row.
type band struct {
	from, width int
	chunks      [][]float32
	rest        [][]float32 // per row the norm of what follows this band
}

func newSlab(dim int) slab {
	s := slab{dim: dim}
	cut := [4]int{0, min(64, dim/6), dim / 2, dim}
	for i := range s.bands {
		s.bands[i].from, s.bands[i].width = cut[i], cut[i+1]-cut[i]
	}
	return s
}

// add appends v as row n.
func (s *slab) add(v []float32) {
	for i := range s.bands {
		s.bands[i].grow(s.n)
	}
	s.n++
	s.set(s.n-1, v)
}

// set replaces a row.
func (s *slab) set(row int, v []float32) {
	for i := range s.bands {
		b := &s.bands[i]
		copy(b.at(row), v[b.from:b.from+b.width])
		b.rest[row/chunkRows][row%chunkRows] = norm(v[b.from+b.width:])
	}
}

// remove drops a row and moves the last one, the former row n-1, into its place.
func (s *slab) remove(row int) {
	s.n--
	for i := range s.bands {
		b := &s.bands[i]
		copy(b.at(row), b.at(s.n))
		b.rest[row/chunkRows][row%chunkRows] = b.rest[s.n/chunkRows][s.n%chunkRows]
		b.shrink(s.n)
	}
}

// vector appends the numbers of a row to dst.
func (s *slab) vector(row int, dst []float32) []float32 {
	for i := range s.bands {
		dst = append(dst, s.bands[i].at(row)...)
	}
	return dst
}

// query is a vector cut like the rows of a slab.
type query struct {
	parts [3][]float32
	rest  [3]float32 // per band the norm of what follows it
}

// query cuts v, which must have the right dimension and stays the caller's.
func (s *slab) query(v []float32) *query {
	q := new(query)
	for i := range s.bands {
		b := &s.bands[i]
		q.parts[i] = v[b.from : b.from+b.width]
		q.rest[i] = norm(v[b.from+b.width:])
	}
	return q
}

// reach is the score of one row; false, with no score, where that is below min.
func (s *slab) reach(row int, q *query, min float32) (float32, bool) {
	c, r := row/chunkRows, row%chunkRows
	score := embed.Dot(q.parts[0], s.bands[0].at(row))
	if score+q.rest[0]*s.bands[0].rest[c][r]+slack < min {
		return 0, false
	}
	score += embed.Dot(q.parts[1], s.bands[1].at(row))
	if score+q.rest[1]*s.bands[1].rest[c][r]+slack < min {
		return 0, false
	}
	score += embed.Dot(q.parts[2], s.bands[2].at(row))
	return score, score >= min
}

// scan calls visit for every row that scores at least min, in order; visit returns the minimum from there on. Its loop is
// reach for row after row, with what they share taken out: that halves the time of a row.
func (s *slab) scan(q *query, min float32, visit func(row int, score float32) float32) {
	b0, b1, b2 := &s.bands[0], &s.bands[1], &s.bands[2]
	for c := range b0.chunks {
		heads, mids, tails := b0.chunks[c], b1.chunks[c], b2.chunks[c]
		rest0, rest1 := b0.rest[c], b1.rest[c]
		for r := range rest0 {
			score := embed.Dot(q.parts[0], heads[r*b0.width:(r+1)*b0.width])
			if score+q.rest[0]*rest0[r]+slack < min {
				continue
			}
			score += embed.Dot(q.parts[1], mids[r*b1.width:(r+1)*b1.width])
			if score+q.rest[1]*rest1[r]+slack < min {
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

// grow makes room for row n.
func (b *band) grow(n int) {
	if n%chunkRows == 0 {
		b.chunks, b.rest = append(b.chunks, nil), append(b.rest, nil)
	}
	last := n / chunkRows
	b.chunks[last] = extend(b.chunks[last], b.width)
	b.rest[last] = extend(b.rest[last], 1)
}

// extend appends one row of zeros. The room doubles up to that of a full chunk, where append would waste a quarter.
func extend(chunk []float32, width int) []float32 {
	if len(chunk) == cap(chunk) {
		room := min(max(2*len(chunk), width), chunkRows*width)
		chunk = append(make([]float32, 0, room), chunk...)
	}
	return chunk[:len(chunk)+width]
}

// shrink takes row n away, which is the last, and wipes it: what was purged does not linger.
func (b *band) shrink(n int) {
	last, r := n/chunkRows, n%chunkRows
	clear(b.chunks[last][r*b.width:])
	b.chunks[last], b.rest[last] = b.chunks[last][:r*b.width], b.rest[last][:r]
	if r == 0 {
		b.chunks[last], b.rest[last] = nil, nil
		b.chunks, b.rest = b.chunks[:last], b.rest[:last]
	}
}

func norm(v []float32) float32 {
	return float32(math.Sqrt(float64(embed.Dot(v, v))))
}
