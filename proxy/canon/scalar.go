package canon

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	ones = 0x0101010101010101
	high = 0x8080808080808080
)

// plain finds the first quote, backslash or control byte from i on, len(b) when there is none, eight bytes at a time:
// images come as megabytes of base64. seen collects the bytes passed (and a few behind them): when seen&high is 0, all
// were ASCII.
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
func (d *doc) scanString() *Error {
	quote, decoded := d.pos, len(d.arena)
	run := quote + 1 // what is not read yet
	var seen uint64
	for {
		at, s := plain(d.body, run)
		d.pos = at
		seen |= s
		switch {
		case at == len(d.body):
			return refuse(CodeJSON, quote, "string is not closed")
		case d.body[at] == '"':
			return d.closeString(quote, run, decoded, seen)
		case d.body[at] != '\\':
			return refuse(CodeJSON, at, "control character in a string; write it as an escape")
		}
		d.arena = append(d.arena, d.body[run:at]...)
		if err := d.scanEscape(); err != nil {
			return err
		}
		run = d.pos
	}
}

// closeString puts the string on the tape; pos is at its closing quote.
func (d *doc) closeString(quote, run, decoded int, seen uint64) *Error {
	if seen&high != 0 {
		if bad := badUTF8(d.body[quote+1 : d.pos]); bad >= 0 {
			return refuse(CodeUnicode, quote+1+bad, "not UTF-8; send text in UTF-8")
		}
	}
	if run == quote+1 {
		d.scalar(text, quote+1, d.pos)
		d.pos++
		return nil
	}
	d.arena = append(d.arena, d.body[run:d.pos]...)
	d.scalar(text, decoded, len(d.arena))
	n := &d.nodes[len(d.nodes)-1]
	n.escaped, n.aux = true, uint32(quote)
	d.pos++
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

// scanEscape decodes the escape at pos and steps behind it.
func (d *doc) scanEscape() *Error {
	at := d.pos
	if d.pos++; d.pos == len(d.body) {
		return refuse(CodeJSON, at, "escape is not complete")
	}
	if c := d.body[d.pos]; c != 'u' {
		if escapes[c] == 0 {
			return refuse(CodeJSON, at, `unknown escape; \" \\ \/ \b \f \n \r \t and \u with four hex digits are allowed`)
		}
		d.arena = append(d.arena, escapes[c])
		d.pos++
		return nil
	}
	r, ok := d.hex4(at)
	if !ok {
		return refuse(CodeJSON, at, `\u needs four hex digits`)
	}
	if d.pos = at + 6; utf16.IsSurrogate(r) {
		low, _ := d.hex4(d.pos)
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return refuse(CodeUnicode, at, "half of a surrogate pair; write both halves or the character itself")
		}
		d.pos += 6
	}
	d.arena = utf8.AppendRune(d.arena, r)
	return nil
}

// hex4 reads the escape \uABCD at offset at.
func (d *doc) hex4(at int) (rune, bool) {
	if at+6 > len(d.body) || d.body[at] != '\\' || d.body[at+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range d.body[at+2 : at+6] {
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

func (d *doc) scanNumber() *Error {
	n, size := readDecimal(d.body[d.pos:])
	if size == 0 {
		return refuse(CodeJSON, d.pos, "not a number of JSON, e.g. -1, 0.5 or 1e6")
	}
	if !n.inRange(d.body[d.pos : d.pos+size]) {
		return refuse(CodeRange, d.pos, "number out of range; at most 1.79e308 is allowed")
	}
	d.scalar(number, d.pos, d.pos+size)
	d.pos += size
	return nil
}

// inRange tells whether every reader can hold the number as a 64-bit float. Only the largest need to be parsed.
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
