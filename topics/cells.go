package topics

import "math/bits"

const (
	cellShift = 8
	cellRows  = 1 << cellShift // rows at which a cell is split
	fewRows   = cellRows / 16  // rows below which one is dissolved
	samples   = 16             // pivots that are compared one by one
)

// cells holds rows with the first parts of their sketches, those together that are near each other: a row joins the cell with the
// nearest pivot, and a cell that is full is split. A scan reads those with the pivots nearest to its query: an inverted file (Jégou, Douze and Schmid 2011, §IV) of sketches, whose
// centres grow with it. All calls cost O(cells), some 0.5 ns for each 150 rows. A row costs some 50 bytes.
//
// Measured by BenchmarkCells on real texts and variants of them: the part of the nearest rows over a gate that a scan finds, and its CPU time as a part of
// that of a scan of all. The sizes of cells and the rows read were chosen on the same 1,000 queries. Of the 150,000 rows a third was not
// yet in cells, and read as a whole.
//
//	rows        over 0.9, 65,536 read    over 0.6, 32,768 read
//	  150,000       1.000   0.94             0.992   0.59
//	  300,000       0.998   0.19             0.957   0.13
//	1,000,000       0.992   0.08             0.953   0.06
type cells struct {
	cells []*cell
	pivot []firstPart // of each cell
	size  int         // rows
}

// cell is rows whose sketches are near each other.
type cell struct {
	rows  []int32
	heads []firstPart
}

func newCells() *cells { return &cells{cells: []*cell{{}}, pivot: make([]firstPart, 1)} }

// insert puts a row into the nearest cell.
func (l *cells) insert(row int32, head firstPart, to placer) {
	l.size++
	at := l.nearest(&head)
	if l.put(at, row, head, to); len(l.cells[at].rows) == cellRows {
		l.split(at, to)
	}
}

// nearest is the cell with the nearest pivot.
func (l *cells) nearest(head *firstPart) (at int) {
	var set [cellRows / 64]uint64
	least := firstBits + 1
	for i := range min(samples, len(l.pivot)) {
		if d := differ(&l.pivot[i], head); d < least {
			at, least = i, d
		}
	}
	for from := 0; from < len(l.pivot); from += cellRows {
		part := l.pivot[from:min(from+cellRows, len(l.pivot))]
		near256(set[:], part, head, least-1)
		for w, word := range set[:(len(part)+63)/64] {
			for ; word != 0; word &= word - 1 {
				i := 64*w + bits.TrailingZeros64(word)
				if d := differ(&part[i], head); d < least {
					at, least = from+i, d
				}
			}
		}
	}
	return at
}

// put appends a row to a cell.
func (l *cells) put(at int, row int32, head firstPart, to placer) {
	c := l.cells[at]
	to.place(row, ^int32(at<<cellShift+len(c.rows)))
	c.rows, c.heads = append(c.rows, row), append(c.heads, head)
}

// remove frees a slot. The last row of its cell takes its place.
func (l *cells) remove(slot int32, to placer) {
	l.size--
	at, i := int(slot>>cellShift), slot&(cellRows-1)
	c := l.cells[at]
	last := len(c.rows) - 1
	c.rows[i], c.heads[i] = c.rows[last], c.heads[last]
	to.place(c.rows[i], ^slot)
	c.heads[last] = firstPart{}
	if c.rows, c.heads = c.rows[:last], c.heads[:last]; last < fewRows && len(l.cells) > 1 {
		l.dissolve(at, to)
	}
}

// dissolve removes a cell, whose rows go to others. The last cell takes its place.
func (l *cells) dissolve(at int, to placer) {
	c, last := l.cells[at], len(l.cells)-1
	l.cells[at], l.pivot[at] = l.cells[last], l.pivot[last]
	for i, row := range l.cells[at].rows {
		to.place(row, ^int32(at<<cellShift+i))
	}
	l.cells[last] = nil
	l.cells, l.pivot = l.cells[:last], l.pivot[:last]
	l.size -= len(c.rows)
	for i, row := range c.rows {
		l.insert(row, c.heads[i], to)
	}
	clear(c.heads)
}

// split makes two cells of a full one: first around two of its rows that are far from each other, then twice around the middles of the halves. Where
// one would be small it takes any halves, so that there are never many small cells.
func (l *cells) split(at int, to placer) {
	full := l.cells[at]
	a := full.farthest(l.pivot[at])
	b := full.farthest(a)
	var left, right *cell
	for range 3 {
		left, right = full.halves(a, b)
		if min(len(left.rows), len(right.rows)) < 2*fewRows {
			left, right = full.halves(a, a)
		}
		a, b = left.middle(), right.middle()
	}
	clear(full.heads)
	l.cells[at], l.pivot[at] = left, a
	l.cells, l.pivot = append(l.cells, right), append(l.pivot, b)
	for _, at := range []int{at, len(l.cells) - 1} {
		for i, row := range l.cells[at].rows {
			to.place(row, ^int32(at<<cellShift+i))
		}
	}
}

// farthest is the head that differs most from one.
func (c *cell) farthest(from firstPart) (far firstPart) {
	most := -1
	for i := range c.heads {
		if d := differ(&c.heads[i], &from); d > most {
			far, most = c.heads[i], d
		}
	}
	return far
}

// halves are the rows that are nearer to a and those nearer to b. Of those between, every second one goes to b, so that rows with equal vectors are
// halved, too.
func (c *cell) halves(a, b firstPart) (left, right *cell) {
	left, right = new(cell), new(cell)
	for i, row := range c.rows {
		da, db := differ(&c.heads[i], &a), differ(&c.heads[i], &b)
		to := left
		if db < da || db == da && i%2 == 0 {
			to = right
		}
		to.rows, to.heads = append(to.rows, row), append(to.heads, c.heads[i])
	}
	return left, right
}

// middle has each bit that most of the heads have. It counts the heads with a bit in eight planes, one for each digit of the counts.
func (c *cell) middle() (m firstPart) {
	for w := range m {
		var planes [cellShift + 1]uint64
		for i := range c.heads {
			carry := c.heads[i][w]
			for p := range planes {
				planes[p], carry = planes[p]^carry, planes[p]&carry
				if carry == 0 {
					break
				}
			}
		}
		half, equal := uint64(len(c.heads)/2), ^uint64(0)
		for p := len(planes) - 1; p >= 0; p-- { // which counts are above half, from the highest digit
			if digit := half >> p & 1; digit == 0 {
				m[w] |= equal & planes[p]
				equal &^= planes[p]
			} else {
				equal &= planes[p]
			}
		}
	}
	return m
}

// near appends to dst the rows whose first parts differ from that of q in at most cut bits, with the number of those bits.
func (c *cell) near(q *query, cut int, dst []candidate) []candidate {
	return q.near256(c.heads, c.rows, cut, dst)
}
