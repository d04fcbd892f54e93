package reuse

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// word consumes a run of letters, marks, digits and inner apostrophes that does not begin with an ASCII digit.
func (s *scanner) word(r rune, n int) {
	if ideograph(r) {
		s.emit(s.text[s.at:s.at+n], plainOrNot(s.text[s.at:s.at+n]), s.at+n)
		return
	}
	end, digits := s.run()
	raw := s.text[s.at:end]
	key := strings.ReplaceAll(strings.ToLower(raw), "’", "'")
	if mark := programming(raw, s.text[end:]); mark != "" {
		s.emit(key+mark, code, end+len(mark))
		return
	}
	if digits {
		s.emit(key, number, end)
		return
	}
	s.words++
	name := false
	if first, _ := utf8.DecodeRuneInString(raw); unicode.IsUpper(first) && len(raw) > 1 {
		s.capitals++
		name = s.names(classOf(key))
	}
	name = name || strings.ContainsFunc(raw[1:], unicode.IsUpper) // USA, YouTube
	if cased(raw) {
		s.emit(raw, word, end)
		return
	}
	s.contraction(key, end, name)
}

// names reports whether the capital of a word of class c that begins here is that of a name.
func (s *scanner) names(c class) bool {
	return !s.start && c&function == 0 && (s.at == 0 || s.text[s.at-1] != '\'' && s.text[s.at-1] != '"')
}

// cased reports whether a word means something else in other letters: MB and Mb, US and us.
func cased(raw string) bool {
	switch raw {
	case "US", "IT", "WHO":
		return true
	case "kB", "KB", "Kb", "MB", "Mb", "GB", "Gb", "TB", "Tb", "Mbps", "MBps", "Gbps", "GBps":
		return true
	}
	return false
}

// run finds the end of a word, and whether it has digits.
func (s *scanner) run() (end int, digits bool) {
	for end = s.at; end < len(s.text); {
		r, n := utf8.DecodeRuneInString(s.text[end:])
		switch {
		case ideograph(r):
			return end, digits
		case unicode.IsDigit(r):
			digits = true
		case (r == '\'' || r == '’') && end > s.at && letter(s.text[end+n:]):
		case !unicode.IsLetter(r) && !unicode.IsMark(r):
			return end, digits
		}
		end += n
	}
	return end, digits
}

// contraction emits a word, in two tokens where it holds a negation.
func (s *scanner) contraction(key string, end int, name bool) {
	if head, ok := strings.CutSuffix(key, "n't"); ok {
		if head == "ca" || head == "wo" {
			head = "will"
			if key == "can't" {
				head = "can"
			}
		}
		s.emit(head, word, s.at)
		s.emit(not, negation, end).shape = lower
		return
	}
	key, tail, cut := strings.Cut(key, "'") // 's, 're, 'll
	c := classOf(key)
	if cut {
		c &^= fused
	}
	if tail == "s" && c&verbal != 0 {
		s.emit(key, word, s.at)
		s.emit("is", word, end).shape = lower
		return
	}
	s.single(key, c, end, name)
	if n := len(s.out); tail == "s" && n > 0 {
		s.out[n-1].owning = true
	}
}

// single emits a word without an apostrophe, in two tokens where it is a verb and a negation.
func (s *scanner) single(key string, c class, end int, name bool) {
	switch {
	case c&fused != 0 && joinedNot[key] == "":
		if s.at >= s.quoteEnd {
			key = misspellings[key]
			c = classOf(key)
		}
		s.push(key, word, c, end).name = name && c&function == 0
	case c&fused != 0:
		s.emit(joinedNot[key], word, s.at)
		s.emit(not, negation, end).shape = lower
	case c&negating != 0:
		s.emit(not, negation, end)
	case key == "":
		s.at = end
	default:
		s.push(key, word, c, end).name = name && c&function == 0
	}
}

// not is the key of every negation.
const not = "not"

func plainOrNot(key string) kind {
	if classOf(key)&negating != 0 {
		return negation
	}
	return word
}

func ideograph(r rune) bool {
	return r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

func ideographic(t token) bool {
	r, _ := utf8.DecodeRuneInString(t.key)
	return ideograph(r)
}

// programming returns the mark that belongs to the name of a language: c++, c#, f#.
func programming(raw, rest string) string {
	if len(raw) != 1 {
		return ""
	}
	for _, mark := range [...]string{"++", "#"} {
		if strings.HasPrefix(rest, mark) && !alnumAt(rest, len(mark)) {
			return mark
		}
	}
	return ""
}
