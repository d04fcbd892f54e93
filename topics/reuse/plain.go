package reuse

import (
	"strings"
	"unicode/utf8"
)

// What a byte may be, as a set of bits.
const (
	small    = 1 << iota // a to z
	capital              // A to Z
	numeral              // 0 to 9
	stop                 // ends or divides a sentence
	trailing             // may follow a run of code without being part of it
	outside              // ends a run of code
	opening              // stands before a run of code
	sign                 // any other than letters and digits
)

// ascii has nothing for the bytes of longer runes.
var ascii = func() (t [256]uint8) {
	for c := range utf8.RuneSelf {
		switch {
		case c >= 'a' && c <= 'z':
			t[c] = small
		case c >= 'A' && c <= 'Z':
			t[c] = capital
		case c >= '0' && c <= '9':
			t[c] = numeral
		default:
			t[c] = sign
		}
	}
	for bit, set := range map[uint8]string{stop: ".,;:!?", trailing: ".,;:!?'])}>", outside: " \t\n\r`\"", opening: " \t\n\r([{\"'"} {
		for _, c := range []byte(set) {
			t[c] |= bit
		}
	}
	return t
}()

// plainWord consumes a word as most are: of ASCII letters, at most the first of them a capital, and neither part of code nor of a
// contraction. Others it leaves to chunk and word, which would read this one in the same way.
func (s *scanner) plainWord() bool {
	end := s.at + 1
	for end < len(s.text) && ascii[s.text[end]]&small != 0 {
		end++
	}
	raw := s.text[s.at:end]
	if !s.plainEnd(end, len(raw)) {
		return false
	}
	s.words++
	key, name := raw, false
	if ascii[raw[0]]&capital != 0 {
		if cased(raw) {
			s.capitals++
			s.emit(raw, word, end)
			return true
		}
		key = strings.ToLower(raw)
	}
	c := classOf(key)
	if len(raw) > 1 && ascii[raw[0]]&capital != 0 {
		s.capitals++
		name = s.names(c)
	}
	s.single(key, c, end, name)
	return true
}

// plainEnd reports whether a word of n ASCII letters ends at byte end, and no code with it.
func (s *scanner) plainEnd(end, n int) bool {
	if end == len(s.text) {
		return true
	}
	c := s.text[end]
	switch {
	case c >= utf8.RuneSelf || c == '\'' || ascii[c]&(capital|numeral) != 0 || n == 1 && (c == '+' || c == '#'):
		return false
	case ascii[c]&outside != 0 || !s.atChunk():
		return true
	}
	for end < len(s.text) && ascii[s.text[end]]&trailing != 0 {
		end++
	}
	return end == len(s.text) || ascii[s.text[end]]&outside != 0
}

// plainStop consumes a mark that ends or divides a sentence where it stands between an ASCII letter and a blank.
func (s *scanner) plainStop() bool {
	next := s.at + 1
	if s.at == 0 || ascii[s.text[s.at-1]]&(small|capital) == 0 || next < len(s.text) && s.text[next] != ' ' && s.text[next] != '\n' {
		return false
	}
	c := s.text[s.at]
	s.at, s.pausing = next, true
	if c != ',' && c != ';' {
		if s.start = true; len(s.text) >= longPrompt {
			s.keep()
		}
	}
	return true
}
