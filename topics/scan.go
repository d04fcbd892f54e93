package topics

import (
	"math/bits"
	"slices"

	"reprise/embed"
)

const (
	// hitZ and nearZ set the probability with which a scan loses a row that scores exactly the minimum, by the tail of a normal
	// distribution; rows above it are lost less often by orders of magnitude. A lost hit costs a request to the upstream, a lost anchor
	// only that a topic is split.
	hitZ  = 4.75 // 1e-6
	nearZ = 3.5  // 2e-4

	headBits = 64
	scanRows = 4096 // after as many a scan looks at its candidates and lets writers pass: their heads fill a page or more
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
	for from := int32(0); from < s.rows.end; from += scanRows {
		if from > 0 {
			s.pause()
		}
		heads := s.rows.heads.part(from, s.rows.end)
		s.check(nearHeads(heads, s.query.sketch[0], cutFor(headBits, s.min, s.z), from, s.query.near[:0]))
	}
}

// pause lets writers pass.
func (s *scan) pause() {
	if s.query.pause != nil {
		s.query.pause()
	}
}

// check scores rows, those with the nearest sketches first, so that the minimum that they set spares the others.
// It keeps list as room for the next.
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
	s.query.near, s.query.ranks = list, ranks
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

// nearHeads appends the rows whose heads differ from q in at most cut bits; the first has the number row. Four rows share a branch,
// which halves their cost.
func nearHeads(heads []uint64, q uint64, cut int, row int32, dst []int32) []int32 {
	cut++ // from here on, near is what makes a difference negative
	for ; len(heads) >= 4; heads, row = heads[4:], row+4 {
		a, b := bits.OnesCount64(heads[0]^q)-cut, bits.OnesCount64(heads[1]^q)-cut
		c, d := bits.OnesCount64(heads[2]^q)-cut, bits.OnesCount64(heads[3]^q)-cut
		if a|b|c|d >= 0 {
			continue
		}
		for i, under := range [...]int{a, b, c, d} {
			if under < 0 {
				dst = append(dst, row+int32(i))
			}
		}
	}
	for i, h := range heads {
		if bits.OnesCount64(h^q) < cut {
			dst = append(dst, row+int32(i))
		}
	}
	return dst
}
