package canon

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	ones = 0x0101010101010101
	high = 0x8080808080808080
)

// plain finds the first quote, backslash or control byte from i on, len(b) when there is none, eight bytes at a time:
// images come as megabytes of base64. seen is the OR of the bytes passed (and a few behind them): when seen&high is 0,
// all were ASCII.
func plain(b []byte, i int) (at int, seen uint64) {
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		seen |= x
		quote, slash := x^(ones*'"'), x^(ones*'\\')
		// A borrow can only raise false alarms above the lowest true one, which is the one used.
		stop := ((x-ones*0x20)&^x | (quote-ones)&^quote | (slash-ones)&^slash) & high
		if stop != 0 {
			return i + bits.TrailingZeros64(stop)/8, seen
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < 0x20 || c == '"' || c == '\\' {
			break
		}
		seen |= uint64(b[i])
	}
	return i, seen
}

// scanString reads the string that begins at pos. One with escapes is decoded into the arena.
func (s *scanner) scanString() *Error {
	quote, decoded := s.pos, len(s.arena)
	run := quote + 1 // where the unread rest begins
	var seen uint64
	for {
		at, passed := plain(s.body, run)
		s.pos = at
		seen |= passed
		switch {
		case at == len(s.body):
			return refuse(codeJSON, quote, "string is not closed")
		case s.body[at] == '"':
			return s.closeString(quote, run, decoded, seen)
		case s.body[at] != '\\':
			return refuse(codeJSON, at, "control character in a string; write it as an escape")
		}
		s.decoded(s.body[run:at])
		if err := s.scanEscape(); err != nil {
			return err
		}
		run = s.pos
	}
}

// decoded appends bytes of a string to the arena, which afterwards has room for an escape. A full arena is made twice as large, but
// not larger than what is left of the body could fill.
func (s *scanner) decoded(b []byte) {
	if need := len(b) + utf8.UTFMax; cap(s.arena)-len(s.arena) < need {
		rest := len(b) + len(s.body) - s.pos + utf8.UTFMax
		s.arena = slices.Grow(s.arena, max(need, min(len(s.arena)+1<<10, rest)))
	}
	s.arena = append(s.arena, b...)
}

// closeString puts the string on the tape; pos is at its closing quote.
func (s *scanner) closeString(quote, run, decoded int, seen uint64) *Error {
	if seen&high != 0 {
		if bad := badUTF8(s.body[quote+1 : s.pos]); bad >= 0 {
			return refuse(codeUnicode, quote+1+bad, "not UTF-8; send text in UTF-8")
		}
	}
	if run == quote+1 {
		err := s.scalar(text, quote+1, s.pos)
		s.pos++
		return err
	}
	s.decoded(s.body[run:s.pos])
	if err := s.scalar(text, decoded, len(s.arena)); err != nil {
		return err
	}
	n := &s.nodes[len(s.nodes)-1]
	n.aux = uint32(quote)
	n.link |= escapedBit
	s.pos++
	return nil
}

// badUTF8 is the offset of the first byte that is not UTF-8, -1 when there is none.
func badUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	i := 0
	for {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
}

var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// scanEscape decodes the escape at pos and moves behind it.
func (s *scanner) scanEscape() *Error {
	at := s.pos
	if s.pos++; s.pos == len(s.body) {
		return refuse(codeJSON, at, "escape is not complete")
	}
	if c := s.body[s.pos]; c != 'u' {
		if escapes[c] == 0 {
			return refuse(codeJSON, at, `unknown escape; \" \\ \/ \b \f \n \r \t and \u with four hex digits are allowed`)
		}
		s.arena = append(s.arena, escapes[c])
		s.pos++
		return nil
	}
	r, ok := s.hex4(at)
	if !ok {
		return refuse(codeJSON, at, `\u needs four hex digits`)
	}
	if s.pos = at + 6; utf16.IsSurrogate(r) {
		low, _ := s.hex4(s.pos)
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return refuse(codeUnicode, at, "half of a surrogate pair; write both halves or the character itself")
		}
		s.pos += 6
	}
	s.arena = utf8.AppendRune(s.arena, r)
	return nil
}

// hex4 reads the escape \uABCD at offset at.
func (s *scanner) hex4(at int) (rune, bool) {
	if at+6 > len(s.body) || s.body[at] != '\\' || s.body[at+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range s.body[at+2 : at+6] {
		switch {
		case isDigit(c):
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// maxExponent bounds exponents, so that they fit an int whatever is added to them.
const maxExponent = 1 << 30

// decimal is a number as written: whole.frac × 10^exp.
type decimal struct {
	neg         bool
	whole, frac []byte
	exp         int // maxExponent when it is larger
}

// readDecimal reads a number of JSON's grammar at the start of b; size is its length, 0 when there is none.
func readDecimal(b []byte) (n decimal, size int) {
	i := 0
	if i < len(b) && b[i] == '-' {
		n.neg = true
		i++
	}
	n.whole = digits(b[i:])
	if len(n.whole) == 0 || len(n.whole) > 1 && n.whole[0] == '0' {
		return n, 0
	}
	i += len(n.whole)
	if i < len(b) && b[i] == '.' {
		n.frac = digits(b[i+1:])
		if len(n.frac) == 0 {
			return n, 0
		}
		i += 1 + len(n.frac)
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		exp, size := readExponent(b[i+1:])
		if size == 0 {
			return n, 0
		}
		n.exp = exp
		i += 1 + size
	}
	return n, i
}

func digits(b []byte) []byte {
	i := 0
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	return b[:i]
}

func readExponent(b []byte) (exp, size int) {
	sign := 1
	if len(b) > 0 && (b[0] == '+' || b[0] == '-') {
		if b[0] == '-' {
			sign = -1
		}
		b, size = b[1:], 1
	}
	ds := digits(b)
	if len(ds) == 0 {
		return 0, 0
	}
	for _, c := range ds {
		exp = min(exp*10+int(c-'0'), maxExponent)
	}
	return sign * exp, size + len(ds)
}

func (s *scanner) scanNumber() *Error {
	n, size := readDecimal(s.body[s.pos:])
	if size == 0 {
		return refuse(codeJSON, s.pos, "not a number of JSON, e.g. -1, 0.5 or 1e6")
	}
	if !n.inRange(s.body[s.pos : s.pos+size]) {
		return refuse(codeRange, s.pos, "number out of range; at most 1.79e308 is allowed")
	}
	err := s.scalar(number, s.pos, s.pos+size)
	s.pos += size
	return err
}

// inRange reports whether every reader can hold the number as a 64-bit float. Only the largest need to be parsed.
func (n decimal) inRange(raw []byte) bool {
	if n.exp <= -maxExponent || n.exp >= maxExponent {
		return false
	}
	if len(n.whole)+n.exp <= 308 {
		return true
	}
	_, err := strconv.ParseFloat(string(raw), 64)
	return err == nil
}
