package align

import (
	"bytes"
	"hash/maphash"
	"strconv"

	"github.com/tidwall/gjson"
)

// stringEnd returns the byte after the JSON string that begins at s[i], -1 where it has no end.
func stringEnd(s []byte, i int) int {
	for i++; ; {
		n := bytes.IndexByte(s[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		slash := i
		for s[slash-1] == '\\' {
			slash--
		}
		i++
		if (i-1-slash)%2 == 0 {
			return i
		}
	}
}

// valueEnd returns the byte after the JSON value that begins at s[i], -1 where there is none. It finds the end of every valid value, and
// of some that are not.
func valueEnd(s []byte, i int) int {
	for depth := 0; i >= 0 && i < len(s); {
		switch c := s[i]; {
		case c == '"':
			i = stringEnd(s, i)
		case c == '{' || c == '[':
			depth++
			i++
			continue
		case c == '}' || c == ']':
			depth--
			i++
		case isSpace(c) || c == ',' || c == ':':
			i++
			if depth > 0 {
				continue
			}
			return -1
		default:
			for i++; i < len(s) && isLiteral(s[i]); i++ {
			}
		}
		if depth <= 0 {
			if depth < 0 {
				return -1
			}
			return i
		}
	}
	return -1
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// isLiteral reports whether c can be in a number, true, false or null.
func isLiteral(c byte) bool {
	return c > ' ' && c != ',' && c != ':' && c != '"' && c != '[' && c != ']' && c != '{' && c != '}'
}

// space returns the first byte from i on that is no white space.
func space(s []byte, i int) int {
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	return i
}

// maxDepth is how deep JSON is read. What is deeper counts as it is written.
const maxDepth = 100

// digest hashes JSON values by what they mean: without white space, markers of cache breakpoints, and the list around a text that is its
// only part. loose is also without the order of members.
type digest struct {
	seed  maphash.Seed
	loose bool
}

// of hashes a whole value. What is no JSON value is hashed as it is.
func (d digest) of(s []byte) uint64 {
	sum, end := d.value(s, space(s, 0), maxDepth)
	if end < 0 {
		return maphash.Bytes(d.seed, s)
	}
	return sum
}

// value hashes the value that begins at s[i] and returns its end, -1 where it is none.
func (d digest) value(s []byte, i, depth int) (sum uint64, end int) {
	if i < len(s) && depth > 0 {
		switch s[i] {
		case '{':
			sum, _, end = d.object(s, i, depth)
			return sum, end
		case '[':
			return d.array(s, i, depth)
		}
	}
	if end = valueEnd(s, i); end < 0 {
		return 0, -1
	}
	return maphash.Bytes(d.seed, s[i:end]), end
}

// object hashes an object; only is the hash of its text where it is nothing but a part of text, else 0.
func (d digest) object(s []byte, i, depth int) (sum, only uint64, end int) {
	sum = 'o'
	members := 0
	end = eachMember(s, i, func(name []byte, at int) int {
		value, after := d.value(s, at, depth-1)
		if after < 0 || isMarker(name) {
			return after
		}
		members++
		if string(name) == "text" {
			only = value
		}
		if member := mix(maphash.Bytes(d.seed, name), value); d.loose {
			sum += member
		} else {
			sum = mix(sum, member)
		}
		return after
	})
	if members != 2 { // type and text
		only = 0
	}
	return sum, only, end
}

// isMarker reports whether a member says where a cache should end a prefix. It is no part of the prompt.
func isMarker(name []byte) bool {
	return string(name) == "cache_control" || string(name) == "prompt_cache_breakpoint"
}

func (d digest) array(s []byte, i, depth int) (sum uint64, end int) {
	sum = 'a'
	n, text := 0, uint64(0)
	end = eachElement(s, i, func(at int) (after int) {
		var value uint64
		if n++; s[at] == '{' {
			value, text, after = d.object(s, at, depth-1)
		} else {
			value, after = d.value(s, at, depth-1)
		}
		sum = mix(sum, value)
		return after
	})
	if n == 1 && text != 0 {
		sum = text
	}
	return sum, end
}

// place is where byte at of a JSON value is for a person: the element of the outermost array around it, -1 outside of one; the byte, and
// the line from 1 on, inside the text of the string that it is in. Outside of strings it is the byte of the value, and line 0.
func place(s []byte, at int) (element, char, line int) {
	element = -1
	depth, outer := 0, -1
	for i := 0; i < at && i < len(s); {
		switch s[i] {
		case '"':
			end := stringEnd(s, i)
			if end < 0 || end > at {
				char, line = unescaped(s[i+1 : at])
				return element, char, line
			}
			i = end
			continue
		case '[':
			if depth++; outer < 0 {
				outer, element = depth, 0
			}
		case '{':
			depth++
		case ']', '}':
			if depth == outer && s[i] == ']' {
				outer, element = -1, -1
			}
			depth--
		case ',':
			if depth == outer {
				element++
			}
		}
		i++
	}
	return element, at, 0
}

// inValue reports whether byte at of a JSON value is in a string that is the value of a member.
func inValue(s []byte, at int) bool {
	for i := 0; i < at; {
		n := bytes.IndexByte(s[i:at], '"')
		if n < 0 {
			return false
		}
		start := i + n
		if i = stringEnd(s, start); i < 0 || i > at {
			before := start - 1
			for before > 0 && isSpace(s[before]) {
				before--
			}
			return before > 0 && s[before] == ':'
		}
	}
	return false
}

// unescaped is how many bytes the beginning of a JSON string represents, and in which line it ends.
func unescaped(s []byte) (n, line int) {
	line = 1
	for i := 0; i < len(s); i++ {
		n++
		if s[i] != '\\' || i+1 == len(s) {
			continue
		}
		switch i++; {
		case s[i] == 'n':
			line++
		case s[i] == 'u' && i+4 < len(s):
			n += wide(s[i+1 : i+5])
			i += 4
		}
	}
	return n, line
}

// wide is how many bytes beyond the first a character has in UTF-8, by its hexadecimal digits; of a pair of surrogates, each half has two.
func wide(hex []byte) int {
	switch code, err := strconv.ParseUint(string(hex), 16, 16); {
	case err != nil || code < 0x80:
		return 0
	case code < 0x800 || code >= 0xd800 && code < 0xe000:
		return 1
	}
	return 2
}

// eachMember calls f with the members of the object that begins at s[i]: the name as it is after unescaping, and where the value begins. f
// returns the end of the value, which valueEnd finds. The result is the end of the object, -1 where there is none; f may have been called then.
func eachMember(s []byte, i int, f func(name []byte, at int) (end int)) int {
	if i >= len(s) || s[i] != '{' {
		return -1
	}
	return eachItem(s, i, '}', func(key int) int {
		end := -1
		if s[key] == '"' {
			end = stringEnd(s, key)
		}
		if end < 0 {
			return -1
		}
		name, at := s[key+1:end-1], space(s, end)
		if at >= len(s) || s[at] != ':' {
			return -1
		}
		if bytes.IndexByte(name, '\\') >= 0 {
			name = []byte(gjson.ParseBytes(s[key:end]).Str)
		}
		return f(name, space(s, at+1))
	})
}

// eachElement calls f with the places of the elements of the array that begins at s[i], as eachMember does.
func eachElement(s []byte, i int, f func(at int) (end int)) int { return eachItem(s, i, ']', f) }

// eachItem calls f with the places of what is between commas behind s[i], up to a bracket, and returns the byte after that, -1 where it is missing.
func eachItem(s []byte, i int, bracket byte, f func(at int) (end int)) int {
	for i = space(s, i+1); i < len(s) && s[i] != bracket; {
		end := f(i)
		if end < 0 {
			return -1
		}
		if i = space(s, end); i >= len(s) || s[i] != ',' {
			break
		}
		i = space(s, i+1)
	}
	if i >= len(s) || s[i] != bracket {
		return -1
	}
	return i + 1
}

// member is the JSON of a member of an object, nil where it is missing.
func member(object []byte, name string) (value []byte) {
	eachMember(object, space(object, 0), func(key []byte, at int) int {
		end := valueEnd(object, at)
		if end >= 0 && string(key) == name {
			value = object[at:end]
		}
		return end
	})
	return value
}
