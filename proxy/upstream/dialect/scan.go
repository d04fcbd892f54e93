package dialect

import (
	"bytes"
	"encoding/json"
)

// member is one member of an object, or one element of an array, which has no name. The places are in the body.
type member struct {
	name  []byte // without escapes
	key   int    // where the quoted name begins; of an element: where its value begins
	start int    // of the value
	end   int    // of the value
}

// scanner goes over the members of one object or array without a look into their values, and without recursion, so that the depth of a
// body costs nothing. Of a valid body it finds every member; of a broken one it may find any, and fails at the latest at its end.
type scanner struct {
	body  []byte
	at    int
	close byte // that ends the object or array
	first bool
	bad   bool
}

// scan begins with the object or array whose opening bracket is at a place; any other value is bad.
func scan(body []byte, at int) scanner {
	at = skipSpace(body, at)
	s := scanner{body: body, at: at + 1, first: true}
	switch {
	case at < len(body) && body[at] == '{':
		s.close = '}'
	case at < len(body) && body[at] == '[':
		s.close = ']'
	default:
		s.bad = true
	}
	return s
}

// next returns the next member, false after the last one, when at is the place of the closing bracket, or if the text is bad.
func (s *scanner) next() (m member, ok bool) {
	s.at = skipSpace(s.body, s.at)
	switch {
	case s.bad || s.at >= len(s.body):
		s.bad = true
		return m, false
	case s.body[s.at] == s.close:
		return m, false
	case !s.first:
		if s.body[s.at] != ',' {
			s.bad = true
			return m, false
		}
		s.at = skipSpace(s.body, s.at+1)
	}
	s.first = false
	m.key, m.start = s.at, s.at
	if s.close == '}' && !s.name(&m) {
		s.bad = true
		return m, false
	}
	m.end = skipValue(s.body, m.start)
	s.bad = m.end < 0 || m.end == m.start
	s.at = m.end
	return m, !s.bad
}

// name reads the name of a member, up to its value.
func (s *scanner) name(m *member) bool {
	if s.at >= len(s.body) || s.body[s.at] != '"' {
		return false
	}
	end := skipString(s.body, s.at)
	if end < 0 {
		return false
	}
	m.name = unquote(s.body[s.at:end])
	colon := skipSpace(s.body, end)
	if colon >= len(s.body) || s.body[colon] != ':' {
		return false
	}
	m.start = skipSpace(s.body, colon+1)
	return m.start < len(s.body)
}

// unquote is the text of a string in quotes.
func unquote(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var text string
	_ = json.Unmarshal(quoted, &text) // a broken name is no name of ours
	return []byte(text)
}

// endsAt reports whether nothing follows the object that ends at a place.
func endsAt(body []byte, end int) bool { return skipSpace(body, end+1) == len(body) }

func skipSpace(body []byte, at int) int {
	for at < len(body) && (body[at] == ' ' || body[at] == '\n' || body[at] == '\t' || body[at] == '\r') {
		at++
	}
	return at
}

// skipString is the place after the string that begins at a place, negative if it does not end.
func skipString(body []byte, at int) int {
	for from := at + 1; ; {
		n := bytes.IndexByte(body[from:], '"')
		if n < 0 {
			return -1
		}
		quote := from + n
		slashes := quote - 1
		for slashes > at && body[slashes] == '\\' {
			slashes--
		}
		if (quote-slashes)%2 == 1 {
			return quote + 1
		}
		from = quote + 1
	}
}

// skipValue is the place after the value that begins at a place, negative if it does not end.
func skipValue(body []byte, at int) int {
	depth := 0
	for at < len(body) {
		switch c := body[at]; c {
		case '"':
			if at = skipString(body, at); at < 0 {
				return -1
			}
		case '{', '[':
			depth++
			at++
		case '}', ']':
			if depth--; depth < 0 {
				return -1
			}
			at++
		default:
			if depth == 0 {
				return skipScalar(body, at)
			}
			at++
			continue
		}
		if depth == 0 {
			return at
		}
	}
	return -1
}

// skipScalar is the place after a number or a word.
func skipScalar(body []byte, at int) int {
	for at < len(body) && bytes.IndexByte([]byte(" \n\t\r,:{}[]\""), body[at]) < 0 {
		at++
	}
	return at
}
