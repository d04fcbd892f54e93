package topics

import "math/bits"

const (
	scanShift = 12
	scanRows  = 1 << scanShift // rows of a chunk of heads
	bareRows  = 16             // rows up to which a list has no heads: most chains are shorter
	longList  = 1 << 17        // rows from which on a list has cells
	moveRows  = 4              // rows that go to the cells with each that joins
)

// firstPart is the first bits of a sketch.
type firstPart = [firstWords]uint64

const (
	firstWords = 4 // three are read faster, but let 2 % of the rows pass at the route gate instead of 0.6 %, each a miss of the cache
	firstBits  = 64 * firstWords
)

// list is some of the rows, with the first parts of their sketches side by side, as a scan reads them. From longList rows on, the rows go to cells,
// of which a scan reads some: those that join at once, the others step by step. A row costs 36 bytes, and 4 in a short list.
type list struct {
	members []int32            // rows that are in no cell, by slot
	heads   *chunks[firstPart] // of each; nil: the list is short
	cells   *cells             // nil: the list has not been long
}

// placer notes in which slot of a list a row is: from 0 on where it is in no cell, else below 0.
type placer interface{ place(row, slot int32) }

func (l *list) size() int {
	if l.cells == nil {
		return len(l.members)
	}
	return len(l.members) + l.cells.size
}

// add adds a row.
func (l *list) add(rs *rows, row int32, to placer) {
	if l.cells != nil {
		l.cells.insert(row, *rs.sketch(row).first(), to)
		for range min(moveRows, len(l.members)) {
			last := int32(len(l.members) - 1)
			row := l.members[last]
			l.removeMember(last, to)
			l.cells.insert(row, *rs.sketch(row).first(), to)
		}
		return
	}
	slot := int32(len(l.members))
	to.place(row, slot)
	l.members = append(l.members, row)
	switch {
	case l.heads != nil:
		l.setHead(rs, slot)
	case slot == bareRows:
		l.heads = &chunks[firstPart]{width: 1, shift: scanShift}
		for s := range slot + 1 {
			l.setHead(rs, s)
		}
	}
	if slot == longList {
		l.cells = newCells()
	}
}

func (l *list) setHead(rs *rows, slot int32) {
	l.heads.grow(slot)
	*l.heads.ref(slot) = *rs.sketch(l.members[slot]).first()
}

// remove frees a slot.
func (l *list) remove(slot int32, to placer) {
	if slot < 0 {
		l.cells.remove(^slot, to)
	} else {
		l.removeMember(slot, to)
	}
}

// removeMember frees a slot that is in no cell. The last one takes its place.
func (l *list) removeMember(slot int32, to placer) {
	last := int32(len(l.members) - 1)
	l.members[slot] = l.members[last]
	to.place(l.members[slot], slot)
	l.members = l.members[:last]
	if l.heads == nil {
		return
	}
	*l.heads.ref(slot) = *l.heads.ref(last)
	*l.heads.ref(last) = firstPart{}
	if last%scanRows == 0 {
		l.heads.drop(last / scanRows)
	}
}

// all yields the rows.
func (l *list) all(yield func(row int32) bool) {
	for _, row := range l.members {
		if !yield(row) {
			return
		}
	}
	if l.cells == nil {
		return
	}
	for _, c := range l.cells.cells {
		for _, row := range c.rows {
			if !yield(row) {
				return
			}
		}
	}
}

// near appends to dst the members from one slot to another, both of one chunk, whose first parts differ from that of q in at most cut
// bits, with the number of those bits.
func (l *list) near(rs *rows, from, to int, q *query, cut int, dst []candidate) []candidate {
	if l.heads != nil {
		return q.near256(l.heads.part(int32(from), int32(to)), l.members[from:to], cut, dst)
	}
	for _, row := range l.members[from:to] {
		if d := differ(rs.sketch(row).first(), &q.first); d <= cut {
			dst = append(dst, candidateOf(row, d))
		}
	}
	return dst
}

// near256 appends to dst those of rows, with their heads, whose first parts differ from that of q in at most cut bits.
func (q *query) near256(heads []firstPart, rows []int32, cut int, dst []candidate) []candidate {
	set := q.set[:(len(heads)+63)/64]
	near256(set, heads, &q.first, cut)
	for w, word := range set {
		for ; word != 0; word &= word - 1 {
			i := 64*w + bits.TrailingZeros64(word)
			dst = append(dst, candidateOf(rows[i], differ(&heads[i], &q.first)))
		}
	}
	return dst
}

// differ is the number of bits in which two halves of sketches differ.
func differ(a, b *[firstWords]uint64) int {
	return bits.OnesCount64(a[0]^b[0]) + bits.OnesCount64(a[1]^b[1]) + bits.OnesCount64(a[2]^b[2]) + bits.OnesCount64(a[3]^b[3])
}
