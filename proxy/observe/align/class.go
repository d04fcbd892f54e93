package align

import (
	"bytes"
	"regexp"
)

// classify says what differs where p[i:a] has the place of q[j:b]. What is before i and j is equal, and so is what follows a and b for
// some bytes.
func classify(p, q []byte, i, a, j, b int) Class {
	if blank(p[i:a]) && blank(q[j:b]) {
		return Whitespace
	}
	from := word(p, i)
	j -= i - from
	i = from
	for a < len(p) && b < len(q) && p[a] == q[b] && isWord(p[a]) && !isEscape(p, a) {
		a, b = a+1, b+1
	}
	x, y := bytes.TrimRight(p[i:a], "."), bytes.TrimRight(q[j:b], ".") // the end of a sentence
	before, after := around(p, i, a)
	both := func(is func(text []byte) bool) bool { return is(x) && is(y) }
	switch {
	case min(len(x), len(y)) >= 36 && both(uuid.Match):
		return UUID
	case both(func(text []byte) bool { return isTime(text, before, after) }):
		return Timestamp
	case both(number.Match):
		return Number
	case both(isRandom):
		return Token
	case max(len(x), len(y)) <= longestName && min(len(x), len(y)) > 0 && (label.Match(before) || both(email.Match)):
		return Name
	case both(isNumbered):
		return Number
	}
	return Unknown
}

// longestName is how many bytes a name, or a time, has at most.
const longestName = 64

// What a varying text looks like.
var (
	uuid    = regexp.MustCompile(`[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}`)
	number  = regexp.MustCompile(`^[\d.,+-]*\d[\d.,+-]*$`)        // 12, -3.5 or 1,200
	epoch   = regexp.MustCompile(`^1\d{9}(?:\d{3}){0,3}(?:\.|$)`) // seconds, milli-, micro- or nanoseconds since 1970, of 2001 to 2033
	dayPart = regexp.MustCompile(`^(?i:am|pm|morning|afternoon|evening|night)$`)
	// A colon and a dot need digits around them that cannot be a ratio or a version.
	clock = regexp.MustCompile(`(?:^|\D)(?:\d\d?:\d\d|` +
		`\d{4}-\d\d?-\d\d?|\d{4}/\d\d?/\d\d?|\d{4}\.\d\d?\.\d\d?|` +
		`\d\d?-\d\d?-(?:\d\d){1,2}|\d\d?/\d\d?/(?:\d\d){1,2}|\d\d?\.\d\d?\.\d{4})(?:\D|$)`)
	calendar = regexp.MustCompile(`^(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[A-Za-z.]{0,6}$|` +
		`^(?i:mon|tue|wed|thu|fri|sat|sun)(?:[A-Za-z.]?|[A-Za-z.]{0,3}day)$`)
	email = regexp.MustCompile(`^[^@ \\]+@[^ \\]+$`)
	// Words before a name.
	label = regexp.MustCompile(`(?i)user|name|customer|client|session|account|e-?mail|member|employee|patient|student|assisting|helping|talking to|` +
		`speaking with|chatting with|hello|dear|owner|author|company|tenant|person|agent`)
)

// isWord reports whether c is part of a word: of a name, number, time or id.
func isWord(c byte) bool {
	return isAlnum(c) || c == '_' || c == '-' || c == ':' || c == '.' || c == '+' || c == '/' || c == '@' || c >= 0x80
}

func isAlnum(c byte) bool  { return isDigit(c) || isLetter(c) }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isHex(c byte) bool    { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// isEscape reports whether s[i] begins, or is the letter of, an escape of a JSON string.
func isEscape(s []byte, i int) bool {
	slashes := 0
	for k := i; k > 0 && s[k-1] == '\\'; k-- {
		slashes++
	}
	return slashes%2 == 1
}

// longWord is how far the beginning of a word is looked for.
const longWord = 48

// word is where the word begins in which s[i] is.
func word(s []byte, i int) int {
	from := min(i, len(s))
	for from > 0 && i-from < longWord && isWord(s[from-1]) && !isEscape(s, from-1) {
		from--
	}
	if from == i && i < len(s) && isEscape(s, i) {
		from--
	}
	return from
}

// around is the text before and behind s[i:a] in its line, up to 48 bytes each.
func around(s []byte, i, a int) (before, after []byte) {
	from, to := max(i-longWord, 0), min(a+longWord, len(s))
	before, after = s[from:i], s[a:to]
	if n := bytes.LastIndex(before, []byte(`\n`)); n >= 0 {
		before = before[n+2:]
	}
	if n := bytes.Index(after, []byte(`\n`)); n >= 0 {
		after = after[:n]
	}
	return before, after
}

// blank reports whether a part of a JSON string is white space only.
func blank(s []byte) bool {
	for i := range s {
		switch c := s[i]; {
		case isSpace(c), c == '\\':
		case (c == 'n' || c == 't' || c == 'r') && (i == 0 || s[i-1] == '\\'):
		default:
			return false
		}
	}
	return true
}

// isTime reports whether a text is a date, a time, or a part of one.
func isTime(s, before, after []byte) bool {
	if len(s) == 0 || len(s) > longestName {
		return false
	}
	if epoch.Match(s) {
		return true
	}
	if (dayPart.Match(s) || digits(s) <= 4 && number.Match(s)) && (isDateWord(lastWord(before)) || isDateWord(firstWord(after))) {
		return true
	}
	for w, rest := cutWord(s); len(w) > 0; w, rest = cutWord(rest) {
		if isDateWord(w) {
			return true
		}
	}
	return false
}

// isDateWord reports whether a word is a date, a time, a month or a day of the week.
func isDateWord(s []byte) bool {
	switch n := digits(s); {
	case n == 0:
		return 3 <= len(s) && len(s) <= 9 && calendar.Match(s)
	default:
		return n >= 3 && len(s) <= 40 && clock.Match(s)
	}
}

// cutWord returns the first word of a text, "" where it has none, and what follows it.
func cutWord(s []byte) (word, rest []byte) {
	i := 0
	for i < len(s) && !isWord(s[i]) {
		i++
	}
	n := i
	for n < len(s) && isWord(s[n]) {
		n++
	}
	return s[i:n], s[n:]
}

func firstWord(s []byte) []byte { w, _ := cutWord(s); return w }

func lastWord(s []byte) []byte {
	s = bytes.TrimRight(s, " ,")
	return s[word(s, len(s)):]
}

func digits(s []byte) (n int) {
	for _, c := range s {
		if isDigit(c) {
			n++
		}
	}
	return n
}

// isNumbered reports whether a text is a word with a number, such as turn-12.
func isNumbered(s []byte) bool { n := digits(s); return n > 0 && len(s)-n <= 24 }

// isRandom reports whether a text looks like random digits and letters: one that has many changes between them, of both cases, or of
// hexadecimal digits.
func isRandom(s []byte) bool {
	if i := bytes.LastIndexAny(s, "_-:/."); i >= 0 && len(s)-i > 8 {
		s = s[i+1:]
	}
	if len(s) < 8 {
		return false
	}
	changes, hex, number := 0, true, digits(s)
	for i, c := range s {
		if !isAlnum(c) && c != '_' && c != '-' {
			return false
		}
		hex = hex && isHex(c)
		if i > 0 && isDigit(c) != isDigit(s[i-1]) {
			changes++
		}
	}
	return hex && (number > 0 || len(s) >= 16) || changes >= 3 || number > 0 && changes >= 2 && len(s) >= 16
}
