package canon

import (
	"bytes"
	"math"
)

// maxDepth is how deep objects and arrays may be nested; the body itself is level 1.
const maxDepth = 100

// maxValues is how many values a body may have, the names of members among them. A prompt of a million tokens as numbers passes, and
// so does a conversation of maxMessages messages.
const maxValues = 2_000_000

// scanner writes the tape.
type scanner struct {
	doc
	pos   int
	names []uint32  // of the objects that are still open
	keys  []stretch // of the names that are being sorted
}

// size is the buffer memory in bytes.
func (s *scanner) size() int {
	return cap(s.nodes)*nodeBytes + cap(s.order)*4 + cap(s.names)*4 + cap(s.keys)*stretchBytes + cap(s.arena)
}

// scan reads body strictly.
func (s *scanner) scan(body []byte) *Error {
	s.body, s.pos, s.odd, s.ids = body, 0, false, false
	s.nodes, s.order, s.names, s.arena = s.nodes[:0], s.order[:0], s.names[:0], s.arena[:0]
	if uint64(len(body)) > math.MaxUint32 {
		return refuse(codeJSON, 0, "body has over 4 GiB")
	}
	if bytes.HasPrefix(body, []byte("\xef\xbb\xbf")) {
		return refuse(codeJSON, 0, "body starts with a byte order mark; send UTF-8 without one")
	}
	s.space()
	if s.pos == len(body) {
		return refuse(codeJSON, s.pos, "body is empty; send a JSON object")
	}
	if body[s.pos] != '{' {
		return refuse(codeJSON, s.pos, "body must be a JSON object")
	}
	if err := s.scanObject(1); err != nil {
		return err
	}
	if s.space(); s.pos < len(body) {
		return refuse(codeJSON, s.pos, "something follows the JSON object; send nothing after it")
	}
	return nil
}

func (s *scanner) space() {
	for s.pos < len(s.body) && isSpace(s.body[s.pos]) {
		s.pos++
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// peek is the byte at pos, 0 at the end: no JSON value begins with it.
func (s *scanner) peek() byte {
	if s.pos < len(s.body) {
		return s.body[s.pos]
	}
	return 0
}

func (s *scanner) expected(what string) *Error {
	if s.pos >= len(s.body) {
		return refuse(codeJSON, s.pos, "body ends where %s is expected", what)
	}
	return refuse(codeJSON, s.pos, "%s is expected here", what)
}

func (s *scanner) scanValue(depth int) *Error {
	switch c := s.peek(); c {
	case '"':
		return s.scanString()
	case '{':
		return s.scanObject(depth)
	case '[':
		return s.scanArray(depth)
	case 'n':
		return s.scanLiteral("null", null)
	case 'f':
		return s.scanLiteral("false", falsy)
	case 't':
		return s.scanLiteral("true", truth)
	default:
		if c == '-' || isDigit(c) {
			return s.scanNumber()
		}
		return s.expected("a value")
	}
}

func (s *scanner) scanLiteral(word string, k kind) *Error {
	if !bytes.HasPrefix(s.body[s.pos:], []byte(word)) {
		return s.expected("a value")
	}
	err := s.scalar(k, s.pos, s.pos+len(word))
	s.pos += len(word)
	return err
}

// scalar puts a value without contents on the tape.
func (s *scanner) scalar(k kind, start, end int) *Error {
	if len(s.nodes) == cap(s.nodes) {
		if len(s.nodes) >= maxValues {
			return refuse(codeSize, s.pos, "body has more than %d values; send fewer numbers, strings, names and objects in one request", maxValues)
		}
		s.growTape()
	}
	i := uint32(len(s.nodes))
	s.nodes = append(s.nodes, node{start: uint32(start), end: uint32(end), link: (i+1)<<nextShift | uint32(k)})
	return nil
}

// growTape makes the tape as long as the body needs if the rest of it is like its beginning, but at most four times as long as it
// is: append alone would copy a long tape five times over, and twice its length would often be too much.
func (s *scanner) growTape() {
	used := len(s.nodes)
	expected := int(float64(used) * float64(len(s.body)) / float64(s.pos+1) * 1.02)
	size := min(max(expected, used+used/4)+64, 4*used+64, maxValues)
	s.nodes = append(make([]node, 0, size), s.nodes...)
}

// open puts an array or object on the tape and moves behind its bracket and the space after it.
func (s *scanner) open(k kind, depth int) (self int, err *Error) {
	if depth > maxDepth {
		return 0, refuse(codeDepth, s.pos, "nested too deep; at most %d levels are allowed", maxDepth)
	}
	self = len(s.nodes)
	if err := s.scalar(k, s.pos, 0); err != nil {
		return 0, err
	}
	s.pos++
	s.space()
	return self, nil
}

func (s *scanner) scanArray(depth int) *Error {
	self, err := s.open(array, depth)
	if err != nil {
		return err
	}
	count := 0
	if s.peek() != ']' {
		for {
			if err := s.scanValue(depth + 1); err != nil {
				return err.at(count)
			}
			count++
			if s.space(); s.peek() != ',' {
				break
			}
			s.pos++
			s.space()
		}
	}
	if s.peek() != ']' {
		return s.expected("a comma or ]")
	}
	s.pos++
	n := &s.nodes[self]
	n.end = uint32(count)
	n.setNext(uint32(len(s.nodes)))
	return nil
}

func (s *scanner) scanObject(depth int) *Error {
	self, err := s.open(object, depth)
	if err != nil {
		return err
	}
	first := len(s.names)
	if s.peek() != '}' {
		for {
			if err := s.scanMember(depth); err != nil {
				return err
			}
			if s.space(); s.peek() != ',' {
				break
			}
			s.pos++
			s.space()
		}
	}
	if s.peek() != '}' {
		return s.expected("a comma or }")
	}
	s.pos++
	return s.closeObject(self, first)
}

func (s *scanner) scanMember(depth int) *Error {
	if s.peek() != '"' {
		return s.expected("a name in double quotes")
	}
	name := uint32(len(s.nodes))
	if err := s.scanString(); err != nil {
		return err
	}
	s.names = append(s.names, name)
	t := s.text(name)
	s.odd = s.odd || isOdd(t)
	s.ids = s.ids || len(t) > 1 && t[len(t)-1] == 'd' && t[len(t)-2] == 'i'
	if s.space(); s.peek() != ':' {
		return s.expected("a colon").under(s.text(name))
	}
	s.pos++
	s.space()
	if err := s.scanValue(depth + 1); err != nil {
		return err.under(s.text(name))
	}
	return nil
}

// closeObject sorts the object's names, which also brings duplicates together.
func (s *scanner) closeObject(self, first int) *Error {
	names := s.names[first:]
	s.sortNames(names)
	for k := 1; k < len(names); k++ {
		if bytes.Equal(s.text(names[k-1]), s.text(names[k])) {
			later := max(names[k-1], names[k])
			return refuse(codeDuplicate, s.offset(later), "duplicate name; each name may be given once").under(s.text(later))
		}
	}
	n := &s.nodes[self]
	n.aux, n.end = uint32(len(s.order)), uint32(len(names))
	n.setNext(uint32(len(s.nodes)))
	s.order = append(s.order, names...)
	s.names = s.names[:first]
	return nil
}
