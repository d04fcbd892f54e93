package canon

import "iter"

type kind uint8

const (
	null kind = iota
	falsy
	truth
	number
	text
	linked // a string that counts as the number in aux; see [Link]
	array
	object
)

// node is one value on the tape; the nodes of what it contains follow it. An object's are name, value, name, value. It has 16 bytes:
// a body may have maxValues of them.
type node struct {
	// The bytes of a scalar, a string's without quotes; of a string with escapes, its decoded bytes in the arena. For an
	// array or object, start is the offset of its bracket and end the number of elements or members.
	start, end uint32
	// object: where its names begin in order; string with escapes: its offset in the body; other string: where its hash
	// ends in the arena, 0 when it has none; an id that counts by its number: that
	aux  uint32
	link uint32 // from the lowest bit: the kind, whether it is escaped, the node after this value and all that it contains
}

// nodeBytes is the size of a node in memory.
const nodeBytes = 16

const (
	kindBits   = 1<<3 - 1
	escapedBit = 1 << 3
	nextShift  = 4
)

func (n *node) kind() kind          { return kind(n.link & kindBits) }
func (n *node) escaped() bool       { return n.link&escapedBit != 0 }
func (n *node) next() uint32        { return n.link >> nextShift }
func (n *node) setKind(k kind)      { n.link = n.link&^kindBits | uint32(k) }
func (n *node) setNext(next uint32) { n.link = n.link&(1<<nextShift-1) | next<<nextShift }

// doc is a body that passed the strict scan, as a tape. Node 0 is the body's object, so 0 also means: no such member.
type doc struct {
	body  []byte
	nodes []node
	order []uint32 // the names of each object, sorted
	arena []byte   // decoded strings
	spill spill
	odd   bool // some name has an upper-case letter or is not ASCII
	ids   bool // some name ends in "id"

	attributed bool // rows with Default.Attributes hold
}

// text returns the decoded bytes of a string, or the raw ones of another scalar. They are valid until the next scan.
func (d *doc) text(i uint32) []byte {
	n := &d.nodes[i]
	if n.escaped() {
		return d.arena[n.start:n.end]
	}
	return d.body[n.start:n.end]
}

// offset returns where a value begins in the body.
func (d *doc) offset(i uint32) int {
	n := &d.nodes[i]
	switch {
	case n.escaped():
		return int(n.aux)
	case n.kind() == text:
		return int(n.start) - 1
	}
	return int(n.start)
}

// members returns the names of an object, sorted; the value of a name is the node after it.
func (d *doc) members(i uint32) []uint32 {
	n := &d.nodes[i]
	return d.order[n.aux : n.aux+n.end]
}

// elements yields the elements of an array; other values have none.
func (d *doc) elements(i uint32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		if !d.is(i, array) {
			return
		}
		for j := i + 1; j < d.nodes[i].next(); j = d.nodes[j].next() {
			if !yield(j) {
				return
			}
		}
	}
}

// member returns the value of an object's member, 0 when it is absent or i is no object.
func (d *doc) member(i uint32, name string) uint32 {
	if d.nodes[i].kind() != object {
		return 0
	}
	for _, m := range d.members(i) {
		if string(d.text(m)) == name {
			return m + 1
		}
	}
	return 0
}

func (d *doc) is(i uint32, k kind) bool { return i != 0 && d.nodes[i].kind() == k }

// isText reports whether value i is the string s.
func (d *doc) isText(i uint32, s string) bool { return d.is(i, text) && string(d.text(i)) == s }

// given reports whether a member is there and not null.
func (d *doc) given(i uint32) bool { return i != 0 && d.nodes[i].kind() != null }
