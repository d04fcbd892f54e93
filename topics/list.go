package topics

import "math/bits"

const (
	scanShift = 12
	scanRows  = 1 << scanShift // after as many a scan lets writers pass: their heads fill many pages
	bareRows  = 16             // rows up to which a list has no heads: most chains are shorter
)

// firstPart is the first bits of a sketch.
type firstPart = [firstWords]uint64

const (
	firstWords = 4 // three are read faster, but let 2 % of the rows pass at the route gate instead of 0.6 %, each a miss of the cache
	firstBits  = 64 * firstWords
)

// list is some of the rows, with the first parts of their sketches side by side, as a scan reads them. A row costs 36 bytes, and 4 in a short
// list.
type list struct {
	members []int32            // rows, by slot
	heads   *chunks[firstPart] // of each slot; nil: the list is short
}

// add appends a row and returns its slot.
func (l *list) add(rs *rows, row int32) (slot int32) {
	slot = int32(len(l.members))
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
	return slot
}

func (l *list) setHead(rs *rows, slot int32) {
	l.heads.grow(slot)
	*l.heads.ref(slot) = rs.sketch(l.members[slot]).first()
}

// remove frees a slot. The last one takes its place: moved is the row of that one, which may be the row that is removed.
func (l *list) remove(slot int32) (moved int32) {
	last := int32(len(l.members) - 1)
	moved = l.members[last]
	l.members[slot] = moved
	l.members = l.members[:last]
	if l.heads == nil {
		return moved
	}
	*l.heads.ref(slot) = *l.heads.ref(last)
	*l.heads.ref(last) = firstPart{}
	if last%scanRows == 0 {
		l.heads.drop(last / scanRows)
	}
	return moved
}

// near appends to dst the rows of slots from to to-1, all of one chunk, whose first parts differ from that of q in at most cut bits, with the
// number of those bits.
func (l *list) near(rs *rows, from, to int, q *query, cut int, dst []candidate) []candidate {
	first := q.sketch.first()
	if l.heads == nil {
		for _, row := range l.members[from:to] {
			if d := differ(rs.sketch(row).first(), first); d <= cut {
				dst = append(dst, candidateOf(row, d))
			}
		}
		return dst
	}
	heads := l.heads.part(int32(from), int32(to))
	set := q.set[:(len(heads)+63)/64]
	near256(set, heads, &first, cut)
	for w, word := range set {
		for ; word != 0; word &= word - 1 {
			i := 64*w + bits.TrailingZeros64(word)
			dst = append(dst, candidateOf(l.members[from+i], differ(heads[i], first)))
		}
	}
	return dst
}

// differ is the number of bits in which two halves of sketches differ.
func differ(a, b [firstWords]uint64) int {
	return bits.OnesCount64(a[0]^b[0]) + bits.OnesCount64(a[1]^b[1]) + bits.OnesCount64(a[2]^b[2]) + bits.OnesCount64(a[3]^b[3])
}
