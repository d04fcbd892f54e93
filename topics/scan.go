package topics

import (
	"math"
	"slices"

	"reprise/embed"
)

// effort is how far a scan looks.
type effort struct {
	// z sets the probability with which a scan loses a row that scores exactly the minimum, by the tail of a normal distribution; rows above it
	// are lost less often by orders of magnitude.
	z float64
	// heads bounds the first parts that it reads, to those of a cell more: in a longer list it reads the cells whose pivots are nearest.
	heads int
	// reads and products bound what it does beyond these, whatever the vectors look like: whole sketches that it reads, and exact scores. Where
	// more rows pass, it takes the nearest by what it has read.
	reads, products int
}

// A lost hit costs a request to the upstream, a lost anchor only that a topic is split. What the bounds on reads and products lose was
// measured with the built-in embedder among 100,000 real texts, at the built-in gates: of the nearest over 0.9 nothing (574 queries), of
// the nearest anchors over 0.6 nothing (931), by 256 reads and 64 products neither. Behind one instruction of 60 words all rows pass;
// then an answer over the gate is always found, the nearest one for 90 % of the queries (for 92 % with 2,048 reads, 94 % with no bound
// on them), and an anchor too, the nearest for 87 %.
var (
	forHits    = effort{z: 4.75, heads: 1 << 16, reads: 1024, products: 256} // 1e-6
	forAnchor  = effort{z: 3.5, heads: 1 << 15, reads: 512, products: 128}   // 2e-4
	everywhere = effort{z: 3.5, heads: math.MaxInt, reads: 4096, products: 1024}
)

const (
	anyScore = -2 // a minimum that every cosine reaches

	// leaders are the rows that are scored before all others: the minimum that they set spares half of the others, each of which is a miss of
	// the cache.
	leaders = 16
)

// scan finds the rows of a list that score at least min. Rows whose sketches differ from that of the query in too many bits are not looked at,
// the others are scored exactly, those with the nearest sketches first, within its effort.
type scan struct {
	effort
	rows  *rows
	query *query
	min   float32
	to    visitor

	near []candidate // by the first bits
	cut  int         // of these
	left [2]int      // the least distances of rows that the bounds left out, of first bits and of whole sketches
	done int         // exact scores so far
}

// visitor gets each row that scores at least the minimum, and returns the next minimum.
type visitor interface {
	visit(row int32, score float32) (min float32)
}

func newScan(rs *rows, q *query, e effort, min float32, to visitor) *scan {
	return &scan{effort: e, rows: rs, query: q, min: min, to: to, near: q.near[:0], left: [2]int{sketchBits + 1, sketchBits + 1}}
}

// list scans a list.
func (s *scan) list(l *list) {
	s.cut = cutFor(firstBits, s.min, s.z)
	for from := 0; from < len(l.members); from += scanRows {
		s.near = l.near(s.rows, from, min(from+scanRows, len(l.members)), s.query, s.cut, s.near)
		s.trimFull()
	}
	if l.cells != nil {
		s.cells(l.cells)
	}
	s.check()
}

// cells scans the nearest cells.
func (s *scan) cells(l *cells) {
	last, room := s.reach(l)
	for i, c := range l.cells {
		if far := int(s.query.far[i]); far > last || far == last && room <= 0 {
			continue
		} else if far == last {
			room -= len(c.rows)
		}
		s.near = c.near(s.query, s.cut, s.near)
		s.trimFull()
	}
}

// reach notes in the query how far the pivots are, and returns the distance of the farthest cells that are to be read, and how many rows of these.
func (s *scan) reach(l *cells) (last, room int) {
	var rows [firstBits + 2]int // by the distance of their cells
	q := s.query
	q.far = q.far[:0]
	for i := range l.pivot {
		d := differ(&l.pivot[i], &q.first)
		q.far = append(q.far, int16(d))
		rows[d] += len(l.cells[i].rows)
	}
	for room = s.heads; last <= firstBits && rows[last] <= room; last++ {
		room -= rows[last]
	}
	return last, room
}

// trimFull trims where there are many more rows than are to be read, and lowers the cut.
func (s *scan) trimFull() {
	if len(s.near) >= 2*s.reads {
		s.trim()
		s.cut = min(s.cut, s.left[0]-1)
	}
}

// trim keeps the nearest rows.
func (s *scan) trim() {
	if len(s.near) > s.reads {
		s.left[0] = min(s.left[0], toFront(s.near, s.reads))
		s.near = s.near[:s.reads]
	}
}

// check scores the rows that are near by their first bits, and notes in the query whether a bound left out any that could score the minimum.
func (s *scan) check() {
	s.trim()
	n := min(leaders, len(s.near))
	if n < len(s.near) {
		toFront(s.near, n)
	}
	s.score(s.near[:n])
	s.score(s.near[n:])
	s.query.near = s.near
	if s.left[0] <= cutFor(firstBits, s.min, s.z) || s.left[1] <= cutFor(sketchBits, s.min, s.z) {
		s.query.limited = true
	}
}

// score scores candidates. The cut of their first bits is one standard deviation higher than that of whole sketches, so that it adds less than
// a twentieth to the loss.
func (s *scan) score(list []candidate) {
	first, cut := cutFor(firstBits, s.min, s.z+1), cutFor(sketchBits, s.min, s.z)
	ranks := s.query.ranks[:0]
	for _, c := range list {
		if row := c.row(); c.distance() <= first {
			if d := s.rows.sketch(row).distance(&s.query.sketch); d <= cut {
				ranks = append(ranks, candidateOf(row, d))
			}
		}
	}
	s.query.ranks = ranks
	if room := s.products - s.done; len(ranks) > room {
		s.left[1] = min(s.left[1], toFront(ranks, room))
		ranks = ranks[:room]
	}
	slices.Sort(ranks)
	for _, c := range ranks {
		if c.distance() > cut {
			return
		}
		s.done++
		score := embed.Dot(s.query.vector, s.rows.vector(c.row()))
		if score < s.min {
			continue
		}
		if next := s.to.visit(c.row(), score); next > s.min {
			s.min, cut = next, cutFor(sketchBits, next, s.z)
		}
	}
}

// candidate is a row and, in the upper half, the distance of its sketch.
type candidate uint64

func candidateOf(row int32, distance int) candidate { return candidate(distance)<<32 | candidate(row) }

func (c candidate) row() int32    { return int32(uint32(c)) }
func (c candidate) distance() int { return int(c >> 32) }

// toFront moves the n nearest candidates of a longer list to its front, of equal ones those that come first, and returns the least distance of
// the others. It costs O(len(list)).
func toFront(list []candidate, n int) (others int) {
	var count [sketchBits + 1]int32
	for _, c := range list {
		count[c.distance()]++
	}
	last, room := 0, int32(n)
	for ; count[last] <= room; last++ {
		room -= count[last]
	}
	front := 0
	for i, c := range list {
		if d := c.distance(); d > last || d == last && room == 0 {
			continue
		} else if d == last {
			room--
		}
		list[front], list[i] = c, list[front]
		front++
	}
	return last
}
