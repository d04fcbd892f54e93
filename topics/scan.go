package topics

import (
	"math/bits"
	"slices"

	"reprise/embed"
	"reprise/topics/internal/hamming"
)

const (
	// hitZ and nearZ set the probability with which a scan loses a row that scores exactly the minimum, by the tail of a normal
	// distribution; rows above it are lost less often by orders of magnitude. A lost hit costs a request to the upstream, a lost anchor
	// only that a topic is split.
	hitZ  = 4.75 // 1e-6
	nearZ = 3.5  // 2e-4

	headBits  = 64
	checkRows = 512 // candidates that are checked at a time: the more there are, the nearer is the nearest of them
	scanShift = 12
	scanRows  = 1 << scanShift // after as many a scan looks at its candidates and lets writers pass: their heads fill a page or more
)

// scan finds the rows that score at least min. Rows whose sketches differ from that of the query in too many bits are not looked at,
// the others are scored exactly.
type scan struct {
	rows  *rows
	query *query
	z     float64
	min   float32
	cut   int                                          // of whole sketches, for min
	visit func(row int32, score float32) (min float32) // called for each row that scores at least min; returns the next minimum
}

func newScan(rs *rows, q *query, z float64, min float32, visit func(row int32, score float32) float32) *scan {
	return &scan{rows: rs, query: q, z: z, min: min, cut: cutFor(sketchBits, min, z), visit: visit}
}

// all scans all rows.
func (s *scan) all() {
	near := s.query.near[:0]
	for from := int32(0); from < s.rows.end; from += scanRows {
		if from > 0 {
			s.pause()
		}
		heads := s.rows.heads.part(from, s.rows.end)
		set := s.query.set[:(len(heads)+63)/64]
		hamming.Near64(set, heads, s.query.sketch[0], cutFor(headBits, s.min, s.z))
		if near = appendSet(near, set, from); len(near) >= checkRows {
			s.check(near)
			near = near[:0]
		}
	}
	s.check(near)
	s.query.near = near
}

// pause lets writers pass.
func (s *scan) pause() {
	if s.query.pause != nil {
		s.query.pause()
	}
}

// check scores rows, those with the nearest sketches first, so that the minimum that they set spares the others. A row that left
// meanwhile is refused by visit.
func (s *scan) check(list []int32) {
	ranks := s.query.ranks[:0]
	for _, row := range list {
		if s.rows.used[row/chunkRows] == 0 { // dropped
			continue
		}
		if d := s.rows.distance(row, &s.query.sketch); d <= s.cut {
			ranks = append(ranks, candidate(d)<<32|candidate(row))
		}
	}
	s.query.ranks = ranks
	slices.Sort(ranks)
	for _, c := range ranks {
		if c.distance() > s.cut {
			return
		}
		row := c.row()
		score := embed.Dot(s.query.vector, s.rows.vector(row))
		if score < s.min {
			continue
		}
		if next := s.visit(row, score); next > s.min {
			s.min, s.cut = next, cutFor(sketchBits, next, s.z)
		}
	}
}

// candidate is a row and, in the upper half, the distance of its sketch.
type candidate uint64

func (c candidate) row() int32    { return int32(uint32(c)) }
func (c candidate) distance() int { return int(c >> 32) }

// appendSet appends the numbers of the bits of set that are 1, the lowest of set[0] having the number first.
func appendSet(dst []int32, set []uint64, first int32) []int32 {
	for _, word := range set {
		for ; word != 0; word &= word - 1 {
			dst = append(dst, first+int32(bits.TrailingZeros64(word)))
		}
		first += 64
	}
	return dst
}
