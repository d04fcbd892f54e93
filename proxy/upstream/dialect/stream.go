package dialect

import (
	"bytes"
	"errors"
	"io"
)

// ErrEncoding ends a body in UTF-16 or UTF-32, in which no member can be found. JSON is UTF-8 (RFC 8259 §8.1), but Python's reader takes
// these too.
var ErrEncoding = errors.New("the body is not in UTF-8")

// StripReader returns in, a body that is forwarded while it is read, without the members that a client must not set at an upstream of the
// dialect d: each has another name then, of the same length, so that the length of the body stays. An upstream that refuses unknown
// members refuses those. Any other byte stays, and so does a body that is no object.
func StripReader(d Dialect, in io.Reader) io.Reader {
	if t, ok := d.(*table); ok && t.strip != nil {
		return &stripReader{in: in, top: t.strip}
	}
	return in
}

// Unreadable reports whether a body is in UTF-16 or UTF-32, at an upstream where a client must not set some members.
func Unreadable(d Dialect, body []byte) bool {
	t, ok := d.(*table)
	return ok && t.strip != nil && notUTF8(body)
}

// notUTF8 reports whether a body begins as JSON does in UTF-16 or UTF-32.
func notUTF8(body []byte) bool {
	return bytes.IndexByte(body[:min(len(body), 4)], 0) >= 0 || bytes.HasPrefix(body, []byte{0xff, 0xfe}) || bytes.HasPrefix(body, []byte{0xfe, 0xff})
}

// longestName is how many bytes a name may have that is looked at. Those of members that are removed are shorter, with every letter
// escaped.
const longestName = 1 << 10

// stripReader replaces names in a body as it passes. What it holds back is a name that is not complete.
type stripReader struct {
	in  io.Reader
	top names
	err error // of in

	buf   []byte // what was read and not given out
	ready int    // bytes of buf that can be given out
	begun bool
	done  bool // nothing is looked at any more

	inside  []names // of the objects that are open, the innermost last, as far as their members are looked at
	skipped int     // brackets that are open inside the last of those
	key     bool    // a name follows
	next    names   // of the member whose value follows, where members inside it are removed
	text    bool    // inside a string that is passed over
	escaped bool    // after a backslash there
}

func (s *stripReader) Read(p []byte) (int, error) {
	for s.ready == 0 && s.err == nil {
		s.fill(len(p))
	}
	if s.ready == 0 {
		return 0, s.err
	}
	n := copy(p, s.buf[:s.ready])
	s.buf = s.buf[:copy(s.buf, s.buf[n:])]
	s.ready -= n
	return n, nil
}

// fill reads more, about as much as is asked for.
func (s *stripReader) fill(size int) {
	from := len(s.buf)
	s.buf = append(s.buf, make([]byte, max(size, 512))...)
	n, err := s.in.Read(s.buf[from:])
	s.buf = s.buf[:from+n]
	if s.err = err; !s.begun && (len(s.buf) >= 4 || err != nil) {
		s.begin()
	}
	if s.begun {
		s.scan()
	}
	if err != nil {
		s.ready = len(s.buf)
	}
}

// begin looks at the first bytes.
func (s *stripReader) begin() {
	if s.begun = true; notUTF8(s.buf) {
		s.buf, s.err, s.done = nil, ErrEncoding, true
	}
	if bytes.HasPrefix(s.buf, byteOrderMark) {
		s.ready = len(byteOrderMark)
	}
}

// scan goes on from ready, up to the end of what was read or the beginning of a name that is not complete.
func (s *stripReader) scan() {
	at := s.ready
	for at < len(s.buf) && !s.done {
		switch c := s.buf[at]; {
		case s.text:
			at = s.passText(at)
			continue
		case c == '"' && s.key:
			end := skipString(s.buf, at)
			if end < 0 && len(s.buf)-at < longestName {
				s.ready = at
				return
			}
			if s.key = false; end >= 0 {
				s.name(s.buf[at:end])
				at = end
				continue
			}
			s.text = true
		case c == '"':
			s.text = true
		default:
			s.bracket(c)
		}
		at++
	}
	s.ready = len(s.buf)
}

// passText returns the place after the string, or the end of what was read.
func (s *stripReader) passText(at int) int {
	for ; at < len(s.buf); at++ {
		switch c := s.buf[at]; {
		case s.escaped:
			s.escaped = false
		case c == '\\':
			s.escaped = true
		case c == '"':
			s.text = false
			return at + 1
		}
	}
	return at
}

// name looks at the quoted name of a member, and replaces it if it is one that is removed.
func (s *stripReader) name(quoted []byte) {
	inside, dangerous := s.inside[len(s.inside)-1][string(unquote(quoted))]
	s.next = inside
	if dangerous && inside == nil {
		for i := 1; i < len(quoted)-1; i++ {
			quoted[i] = '-'
		}
	}
}

// bracket follows the structure, outside strings.
func (s *stripReader) bracket(c byte) {
	opens, closes := c == '{' || c == '[', c == '}' || c == ']'
	switch {
	case c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == ':':
	case len(s.inside) == 0:
		s.inside, s.key, s.done = append(s.inside, s.top), true, c != '{' // any other body passes
	case s.skipped > 0 && opens, s.skipped == 0 && opens && (c == '[' || s.next == nil):
		s.skipped++
	case s.skipped > 0 && closes:
		s.skipped--
	case s.skipped > 0:
	case opens:
		s.inside, s.key, s.next = append(s.inside, s.next), true, nil
	case closes:
		s.inside, s.key = s.inside[:len(s.inside)-1], false
		s.done = len(s.inside) == 0
	case c == ',':
		s.key, s.next = true, nil
	}
}
