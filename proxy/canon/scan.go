package canon

import (
	"bytes"
	"math"
	"slices"
)

// MaxDepth is how deep objects and arrays may be nested; the body itself is level 1.
const MaxDepth = 100

type kind uint8

const (
	null kind = iota
	falsy
	truth
	number
	text
	array
	object
)

// node is one value on the tape; the nodes of what it contains follow it. An object's are name, value, name, value.
type node struct {
	// The bytes of a scalar, a string's without quotes. Those of a string with escapes lie decoded in the arena. For an
	// array or object, start is the offset of its bracket and end the number of items or members.
	start, end uint32
	next       uint32 // the node after this value and all that it contains
	// object: where its names begin in order; string with escapes: its offset in the body; other string: where its hash
	// ends in the arena, 0 when it has none
	aux     uint32
	kind    kind
	escaped bool
}

// doc is a body that passed the strict scan, as a tape. Node 0 is the body's object, so 0 also means: no such member.
type doc struct {
	body  []byte
	pos   int
	nodes []node
	order []uint32 // the names of each object, sorted
	names []uint32 // while scanning: the names of the objects that are still open
	arena []byte   // decoded strings
	odd   bool     // some name has an upper-case letter or is not ASCII
}

func (d *doc) size() int {
	return cap(d.nodes)*20 + cap(d.order)*4 + cap(d.names)*4 + cap(d.arena)
}

// scan reads body strictly.
func (d *doc) scan(body []byte) *Error {
	d.body, d.pos, d.odd = body, 0, false
	d.nodes, d.order, d.names, d.arena = d.nodes[:0], d.order[:0], d.names[:0], d.arena[:0]
	if uint64(len(body)) > math.MaxUint32 {
		return refuse(CodeJSON, 0, "body has over 4 GiB")
	}
	if bytes.HasPrefix(body, []byte("\xef\xbb\xbf")) {
		return refuse(CodeJSON, 0, "body starts with a byte order mark; send UTF-8 without one")
	}
	d.space()
	if d.pos == len(body) {
		return refuse(CodeJSON, d.pos, "body is empty; send a JSON object")
	}
	if body[d.pos] != '{' {
		return refuse(CodeJSON, d.pos, "body must be a JSON object")
	}
	if err := d.scanObject(1); err != nil {
		return err
	}
	if d.space(); d.pos < len(body) {
		return refuse(CodeJSON, d.pos, "something follows the JSON object; send nothing after it")
	}
	return nil
}

func (d *doc) space() {
	for d.pos < len(d.body) {
		switch d.body[d.pos] {
		case ' ', '\n', '\r', '\t':
			d.pos++
		default:
			return
		}
	}
}

// peek is the byte at pos; 0 at the end, where no value of JSON has one.
func (d *doc) peek() byte {
	if d.pos < len(d.body) {
		return d.body[d.pos]
	}
	return 0
}

func (d *doc) expected(what string) *Error {
	if d.pos >= len(d.body) {
		return refuse(CodeJSON, d.pos, "body ends where %s is expected", what)
	}
	return refuse(CodeJSON, d.pos, "%s is expected here", what)
}

func (d *doc) scanValue(depth int) *Error {
	switch c := d.peek(); c {
	case '"':
		return d.scanString()
	case '{':
		return d.scanObject(depth)
	case '[':
		return d.scanArray(depth)
	case 'n':
		return d.scanLiteral("null", null)
	case 'f':
		return d.scanLiteral("false", falsy)
	case 't':
		return d.scanLiteral("true", truth)
	default:
		if c == '-' || isDigit(c) {
			return d.scanNumber()
		}
		return d.expected("a value")
	}
}

func (d *doc) scanLiteral(word string, k kind) *Error {
	if !bytes.HasPrefix(d.body[d.pos:], []byte(word)) {
		return d.expected("a value")
	}
	d.scalar(k, d.pos, d.pos+len(word))
	d.pos += len(word)
	return nil
}

// scalar puts a value without contents on the tape.
func (d *doc) scalar(k kind, start, end int) {
	if len(d.nodes) == cap(d.nodes) {
		d.nodes = slices.Grow(d.nodes, len(d.nodes)+64) // append alone would copy a long tape five times over
	}
	i := uint32(len(d.nodes))
	d.nodes = append(d.nodes, node{start: uint32(start), end: uint32(end), next: i + 1, kind: k})
}

// open puts an array or object on the tape and steps over its bracket and the space behind it.
func (d *doc) open(k kind, depth int) (self int, err *Error) {
	if depth > MaxDepth {
		return 0, refuse(CodeDepth, d.pos, "nested too deep; at most %d levels are allowed", MaxDepth)
	}
	self = len(d.nodes)
	d.scalar(k, d.pos, 0)
	d.pos++
	d.space()
	return self, nil
}

func (d *doc) scanArray(depth int) *Error {
	self, err := d.open(array, depth)
	if err != nil {
		return err
	}
	count := 0
	if d.peek() != ']' {
		for {
			if err := d.scanValue(depth + 1); err != nil {
				return err.at(count)
			}
			count++
			if d.space(); d.peek() != ',' {
				break
			}
			d.pos++
			d.space()
		}
	}
	if d.peek() != ']' {
		return d.expected("a comma or ]")
	}
	d.pos++
	d.nodes[self].end, d.nodes[self].next = uint32(count), uint32(len(d.nodes))
	return nil
}

func (d *doc) scanObject(depth int) *Error {
	self, err := d.open(object, depth)
	if err != nil {
		return err
	}
	first := len(d.names)
	if d.peek() != '}' {
		for {
			if err := d.scanMember(depth); err != nil {
				return err
			}
			if d.space(); d.peek() != ',' {
				break
			}
			d.pos++
			d.space()
		}
	}
	if d.peek() != '}' {
		return d.expected("a comma or }")
	}
	d.pos++
	return d.closeObject(self, first)
}

func (d *doc) scanMember(depth int) *Error {
	if d.peek() != '"' {
		return d.expected("a name in double quotes")
	}
	name := uint32(len(d.nodes))
	if err := d.scanString(); err != nil {
		return err
	}
	d.names = append(d.names, name)
	d.odd = d.odd || isOdd(d.text(name))
	if d.space(); d.peek() != ':' {
		return d.expected("a colon").under(d.text(name))
	}
	d.pos++
	d.space()
	if err := d.scanValue(depth + 1); err != nil {
		return err.under(d.text(name))
	}
	return nil
}

// closeObject sorts the object's names, which also brings duplicates together.
func (d *doc) closeObject(self, first int) *Error {
	names := d.names[first:]
	d.sortNames(names)
	for k := 1; k < len(names); k++ {
		if bytes.Equal(d.text(names[k-1]), d.text(names[k])) {
			later := max(names[k-1], names[k])
			return refuse(CodeDuplicate, d.offset(later), "duplicate name; each name may be given once").under(d.text(later))
		}
	}
	n := &d.nodes[self]
	n.aux, n.end, n.next = uint32(len(d.order)), uint32(len(names)), uint32(len(d.nodes))
	d.order = append(d.order, names...)
	d.names = d.names[:first]
	return nil
}

// text is the decoded bytes of a string, or the raw ones of another scalar. They are valid until the next scan.
func (d *doc) text(i uint32) []byte {
	n := &d.nodes[i]
	if n.escaped {
		return d.arena[n.start:n.end]
	}
	return d.body[n.start:n.end]
}

// offset is where a value begins in the body.
func (d *doc) offset(i uint32) int {
	n := &d.nodes[i]
	switch {
	case n.escaped:
		return int(n.aux)
	case n.kind == text:
		return int(n.start) - 1
	}
	return int(n.start)
}

// members are the names of an object, sorted; the value of a name is the node after it.
func (d *doc) members(i uint32) []uint32 {
	n := &d.nodes[i]
	return d.order[n.aux : n.aux+n.end]
}

// member is the value of an object's member, 0 when it is absent or i is no object.
func (d *doc) member(i uint32, name string) uint32 {
	if d.nodes[i].kind != object {
		return 0
	}
	for _, m := range d.members(i) {
		if string(d.text(m)) == name {
			return m + 1
		}
	}
	return 0
}

func (d *doc) is(i uint32, k kind) bool { return i != 0 && d.nodes[i].kind == k }

// isText tells whether value i is the string s.
func (d *doc) isText(i uint32, s string) bool { return d.is(i, text) && string(d.text(i)) == s }

// given tells whether a member is there and not null.
func (d *doc) given(i uint32) bool { return i != 0 && d.nodes[i].kind != null }
