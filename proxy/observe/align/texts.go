package align

import (
	"hash/maphash"
	"unicode/utf8"
)

// Difference is a place where two texts differ.
type Difference struct {
	Byte, End int // of the first text: from the beginning of the word in which it differs to where it is equal again
	Looks     Class
	Clock     bool // of a Timestamp: the time of day differs, and the date before it does not
}

var textSeed = maphash.MakeSeed()

// Texts returns the first places where p differs from q, at most most, in the order of the text; none where they are equal. A difference
// that begins less than some 30 bytes behind another is a part of it. The cost is that of a comparison of bytes, and some microseconds for
// each difference.
func Texts(p, q string, most int) (all []Difference) {
	from, p, q := trimmed(p, q)
	a, b := escaped(p), escaped(q)
	w := walk{seed: textSeed}
	for i, j := 0, 0; ; {
		n := same(a[i:], b[j:])
		if i, j = i+n, j+n; i == len(a) && j == len(b) {
			return all
		}
		x, y, class := w.resync(a, b, i, j)
		d := newDifference(a, b, span{p: a, q: b, i: i, a: x, j: j, b: y}, class)
		d.Byte, d.End = d.Byte+from, d.End+from
		if last := len(all) - 1; last >= 0 && d.Byte-all[last].End < minStretch {
			all[last].join(d)
		} else if len(all) == most {
			return all
		} else {
			all = append(all, d)
		}
		i, j = x, y
	}
}

func newDifference(p, q []byte, s span, class Class) Difference {
	if class == "" {
		class = s.class()
	}
	from := word(p, s.i)
	at, _ := unescaped(p[:from])
	end, _ := unescaped(p[:s.a])
	d := Difference{Byte: at, End: end, Looks: class}
	d.Clock = class == Timestamp && isClock(p[from:], s.i-from) && isClock(q[s.j-(s.i-from):], s.i-from)
	return d
}

// join makes d reach to the end of a difference right behind it, as where date and time differ.
func (d *Difference) join(next Difference) {
	if d.Looks == Unknown || d.Looks == Number && next.Looks == Timestamp {
		d.Looks, d.Clock = next.Looks, next.Clock
	}
	d.End = next.End
}

// isClock reports whether byte i of a text, which begins with a timestamp, is in the time of day: among digits beside a colon, in a fraction
// of seconds, in a part of the day, or in a number of seconds since 1970.
func isClock(s []byte, i int) bool {
	if w := firstWord(s); epoch.Match(w) || dayPart.Match(w) {
		return true
	}
	if i >= len(s) {
		return false
	}
	from, to := i, i
	for from > 0 && (isDigit(s[from-1]) || s[from-1] == '.') {
		from--
	}
	for to < len(s) && isDigit(s[to]) {
		to++
	}
	return from > 0 && s[from-1] == ':' || to < len(s) && s[to] == ':'
}

// escaped is the inside of the JSON string of a text, in which only what must be is escaped: the form in which differences are classified.
func escaped(s string) []byte {
	if !needsEscape(s) {
		return []byte(s)
	}
	b := make([]byte, 0, len(s)+len(s)/16)
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\t':
			b = append(b, '\\', 't')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c < ' ':
			const hex = "0123456789abcdef"
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return b
}

func needsEscape(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			return true
		}
	}
	return false
}

// beside is how many bytes are looked at before and behind what differs.
const beside = 128

// trimmed takes away what two texts have in common at the beginning, which has some bytes, and at the end, except what is beside the first
// and the last difference.
func trimmed(p, q string) (from int, x, y string) {
	n := 0
	for n < min(len(p), len(q)) && p[n] == q[n] {
		n++
	}
	from = max(n-beside, 0)
	for from > 0 && !utf8.RuneStart(p[from]) {
		from--
	}
	p, q = p[from:], q[from:]
	end := 0
	for end < min(len(p), len(q))-beside && p[len(p)-1-end] == q[len(q)-1-end] {
		end++
	}
	end = max(end-beside, 0)
	for end > 0 && !utf8.RuneStart(p[len(p)-end]) {
		end--
	}
	return from, p[:len(p)-end], q[:len(q)-end]
}
