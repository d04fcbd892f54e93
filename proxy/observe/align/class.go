package align

import "bytes"

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
	for _, is := range shapes {
		if is.like(x, before, after) && is.like(y, before, after) {
			return is.class
		}
	}
	return Unknown
}

// shapes are the classes by what the varying text looks like; the first that fits both texts counts.
var shapes = []struct {
	class Class
	like  func(text, before, after []byte) bool
}{
	{UUID, func(text, _, _ []byte) bool { return hasUUID(text) }},
	{Timestamp, isTime},
	{Number, func(text, _, _ []byte) bool { return isNumber(text) }},
	{Token, func(text, _, _ []byte) bool { return isRandom(text) }},
	{Name, isName},
	{Number, func(text, _, _ []byte) bool { return isNumbered(text) }},
}

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

// hasUUID reports whether a text contains a UUID.
func hasUUID(s []byte) bool {
	for i := 0; i+36 <= len(s); i++ {
		ok := true
		for k := 0; k < 36 && ok; k++ {
			if k == 8 || k == 13 || k == 18 || k == 23 {
				ok = s[i+k] == '-'
			} else {
				ok = isHex(s[i+k])
			}
		}
		if ok {
			return true
		}
	}
	return false
}

// isTime reports whether a text is a date, a time, or a part of one.
func isTime(s, before, after []byte) bool {
	if len(s) == 0 || len(s) > 64 {
		return false
	}
	if isEpoch(s) || (dayPart(s) || isNumber(s) && digits(s) <= 4) && (isDateWord(lastWord(before)) || isDateWord(firstWord(after))) {
		return true
	}
	for w, rest := cutWord(s); len(w) > 0; w, rest = cutWord(rest) {
		if isDateWord(w) {
			return true
		}
	}
	return false
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

// hasTime reports whether a text contains 12:34, 2026-11-22, 22/11/2026 or 22.11.2026. The colon and the dot need digits around them
// that cannot be a ratio or a version.
func hasTime(s []byte) bool {
	for i := range s {
		before, behind := run(s[:i], true), 0
		if before == 0 || i+1 == len(s) {
			continue
		}
		behind = run(s[i+1:], false)
		switch c := s[i]; c {
		case ':':
			if before <= 2 && behind == 2 {
				return true
			}
		case '-', '/', '.':
			next := i + 1 + behind
			if behind == 0 || next+1 >= len(s) || s[next] != c {
				continue
			}
			last := run(s[next+1:], false)
			if before == 4 && behind <= 2 && last > 0 && last <= 2 || before <= 2 && behind <= 2 && (last == 4 || last == 2 && c != '.') {
				return true
			}
		}
	}
	return false
}

// run is the number of digits at the beginning of s, or at its end.
func run(s []byte, atEnd bool) (n int) {
	for n < len(s) {
		c := s[n]
		if atEnd {
			c = s[len(s)-1-n]
		}
		if !isDigit(c) {
			break
		}
		n++
	}
	return n
}

// isEpoch reports whether a text is a number of seconds, milli-, micro- or nanoseconds since 1970 of a year from 2001 to 2033.
func isEpoch(s []byte) bool {
	whole, _, _ := bytes.Cut(s, []byte("."))
	n := run(whole, false)
	return n == len(whole) && (n == 10 || n == 13 || n == 16 || n == 19) && whole[0] == '1'
}

// calendar are beginnings of the names of months and days.
var calendar = []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "mon", "tue", "wed", "thu", "fri", "sat", "sun"}

// isCalendar reports whether a text is the name of a month or a day of the week.
func isCalendar(s []byte) bool {
	var low [3]byte
	if len(s) < 3 || len(s) > 9 {
		return false
	}
	for i, c := range s {
		if !isLetter(c) && c != '.' {
			return false
		}
		if i < 3 {
			low[i] = c | 0x20
		}
	}
	for _, name := range calendar {
		if string(low[:]) == name {
			return len(s) <= 4 || string(s[len(s)-3:]) == "day" || !contains(calendar[12:], name)
		}
	}
	return false
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

// dayPart reports whether a text is a part of the day.
func dayPart(s []byte) bool {
	for _, part := range []string{"am", "pm", "morning", "afternoon", "evening", "night"} {
		if bytes.EqualFold(s, []byte(part)) {
			return true
		}
	}
	return false
}

// isDateWord reports whether a word is a date, a time, a month or a day.
func isDateWord(s []byte) bool { return isCalendar(s) || len(s) <= 40 && hasTime(s) }

// isNumber reports whether a text is a number, such as 12, -3.5 or 1,200.
func isNumber(s []byte) bool {
	for _, c := range s {
		if !isDigit(c) && c != '.' && c != ',' && c != '-' && c != '+' {
			return false
		}
	}
	return digits(s) > 0
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

// labels are words before which, or behind which, a name is.
var labels = []string{"user", "name", "customer", "client", "session", "account", "email", "e-mail", "member", "employee", "patient", "student",
	"assisting", "helping", "talking to", "speaking with", "chatting with", "hello", "dear", "owner", "author", "company", "tenant", "person", "agent"}

// isName reports whether a text is an address of e-mail, or a short one behind a label for names.
func isName(s, before, _ []byte) bool {
	if len(s) == 0 || len(s) > 64 {
		return false
	}
	if i := bytes.IndexByte(s, '@'); i > 0 && i+1 < len(s) && !bytes.ContainsAny(s, " \\") {
		return true
	}
	var low [longWord]byte
	n := 0
	for ; n < len(before) && n < longWord; n++ {
		low[n] = before[n]
		if isLetter(low[n]) {
			low[n] |= 0x20
		}
	}
	for _, label := range labels {
		if bytes.Contains(low[:n], []byte(label)) {
			return true
		}
	}
	return false
}
