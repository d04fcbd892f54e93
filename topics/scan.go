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

	headBits  = 64
	checkLen  = 512 // candidates that are checked at a time: the more there are, the nearer is the nearest of them
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
	cut   int // of whole sketches, for min
	to    visitor
}

// visitor gets each row that scores at least the minimum, and returns the next minimum.
type visitor interface {
	visit(row int32, score float32) (min float32)
}

func newScan(rs *rows, q *query, z float64, min float32, to visitor) *scan {
	return &scan{rows: rs, query: q, z: z, min: min, cut: cutFor(sketchBits, min, z), to: to}
}

// all scans all rows.
func (s *scan) all() {
	rows := s.query.rows[:0]
	for from := int32(0); from < s.rows.end; from += scanRows {
		if from > 0 {
			s.pause()
		}
		heads := s.rows.heads.part(from, s.rows.end)
		set := s.query.set[:(len(heads)+63)/64]
		near64(set, heads, s.query.sketch[0], cutFor(headBits, s.min, s.z))
		if rows = appendSet(rows, set, from); len(rows) >= checkLen {
			s.checkRows(rows)
			rows = rows[:0]
		}
	}
	s.checkRows(rows)
	s.query.rows = rows
}

// pause lets writers pass.
func (s *scan) pause() {
	if s.query.lock != nil {
		s.query.lock.pause()
	}
}

// checkRows checks rows of which only the heads were looked at.
func (s *scan) checkRows(rows []int32) {
	near := s.query.near[:0]
	for _, row := range rows {
		if s.rows.kept(row) {
			near = append(near, candidateOf(row, s.rows.first(row, &s.query.sketch)))
		}
	}
	s.check(near)
	s.query.near = near
}

// check scores candidates by the distance of the first bits, the nearest before all others: the minimum that it sets spares half of the
// others, each of which is a miss of the cache. A row that left meanwhile is refused by visit. It changes the order of list.
func (s *scan) check(list []candidate) {
	if len(list) == 0 {
		return
	}
	nearest := 0
	for i, c := range list {
		if c < list[nearest] {
			nearest = i
		}
	}
	list[0], list[nearest] = list[nearest], list[0]
	s.score(list[:1])
	s.score(list[1:])
}

// score scores candidates, those with the nearest sketches first. The cut of their first bits is one standard deviation higher than that of
// whole sketches, so that it adds less than a twentieth to the loss.
func (s *scan) score(list []candidate) {
	cut := cutFor(firstBits, s.min, s.z+1)
	ranks := s.query.ranks[:0]
	for _, c := range list {
		row := c.row()
		if c.distance() > cut || !s.rows.kept(row) {
			continue
		}
		if d := c.distance() + s.rows.rest(row, &s.query.sketch); d <= s.cut {
			ranks = append(ranks, candidateOf(row, d))
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
		if next := s.to.visit(row, score); next > s.min {
			s.min, s.cut = next, cutFor(sketchBits, next, s.z)
		}
	}
}

// candidate is a row and, in the upper half, the distance of its sketch.
type candidate uint64

func candidateOf(row int32, distance int) candidate { return candidate(distance)<<32 | candidate(row) }

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
