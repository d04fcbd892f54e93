package reuse

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Marks most of which mean nothing by themselves, and those that have a meaning between two things.
const (
	sentenceMarks = ".,;:!?…。，！？；：、¿¡"
	quoteMarks    = "\"'`´“”„‘’‚«»‹›「」『』"
	wideBrackets  = "（）《》【】〈〉"
	invisible     = "\u00ad\u200b\u200e\u200f\ufeff" // soft hyphens, spaces of no width, hints of direction
	operators     = "+-*/^=<>×÷−|&%"
)

// mark handles everything that is no letter, digit or space. Punctuation is skipped where it is used as in prose; all
// else is a token: "5!" is not 5, and "rm -rf /" not "rm -rf .".
func (s *scanner) mark(r rune, n int) {
	around := s.around(n)
	switch {
	case r == '&' && around.even():
		s.emit("and", word, s.at+n)
	case around.prose(r):
		s.at += n
	default:
		s.emit(s.text[s.at:s.at+n], code, s.at+n)
	}
	s.pausing = s.pausing || strings.ContainsRune(",;:.!?()–—，。？！、；：", r)
	s.start = s.start || strings.ContainsRune(".!?:。？！", r)
}

// surroundings are the runes next to a mark, and the text; 0 is the end of a line.
type surroundings struct {
	before, after rune
	head, tail    string // the text before and behind the mark
}

func (s *scanner) around(n int) surroundings {
	head, tail := s.text[:s.at], s.text[s.at+n:]
	return surroundings{last(head), first(tail), head, tail}
}

// left and right are the next runes that are no blank.
func (a surroundings) left() rune  { return last(strings.TrimRight(a.head, " \t")) }
func (a surroundings) right() rune { return first(strings.TrimLeft(a.tail, " \t\r")) }

// first and last take the end of a line for the end of the text.
func first(text string) rune { r, n := utf8.DecodeRuneInString(text); return lineEnd(r, n) }
func last(text string) rune  { r, n := utf8.DecodeLastRuneInString(text); return lineEnd(r, n) }

func lineEnd(r rune, n int) rune {
	if n == 0 || r == '\n' || r == '\r' {
		return 0
	}
	return r
}

func blank(r rune) bool { return r == 0 || unicode.IsSpace(r) }

func among(r rune, marks string) bool { return r != 0 && strings.ContainsRune(marks, r) }

// even: blanks on both sides, or words.
func (a surroundings) even() bool {
	return blank(a.before) && blank(a.after) || alnum(a.before) && alnum(a.after)
}

// prose reports whether the mark is no more than punctuation here.
func (a surroundings) prose(r rune) bool {
	switch {
	case among(r, quoteMarks), among(r, wideBrackets), among(r, invisible), r == '–', r == '—':
		return true
	case among(r, sentenceMarks):
		return a.sentence(r)
	case r == '(':
		return (blank(a.before) || among(a.before, quoteMarks)) && !among(a.left(), operators)
	case r == ')':
		return (blank(a.after) || among(a.after, sentenceMarks) || among(a.after, quoteMarks)) && !among(a.right(), operators)
	case r == '-' && a.dash(),
		r == '-' && (alnum(a.before) && !among(a.after, operators) || a.before == '-' && blank(a.after) || a.after == '-' && blank(a.before)):
		return true // of a hyphenated word, or a dash in two strokes
	case among(r, "-*•#"): // of a list or a heading
		return a.left() == 0 && (blank(a.after) || r == '#') || r == '#' && a.before == '#'
	}
	return false
}

// dash reports whether a hyphen between blanks divides words, not values.
func (a surroundings) dash() bool {
	if a.before != ' ' || a.after != ' ' || len(a.head) < 3 || len(a.tail) < 3 {
		return false
	}
	lower := func(c byte) bool { return ascii[c]&small != 0 }
	return lower(a.head[len(a.head)-2]) && lower(a.head[len(a.head)-3]) && lower(a.tail[1]) && lower(a.tail[2])
}

// longestEnd bounds how far sentence looks for the end of a line, in bytes.
const longestEnd = 48

// sentence reports whether a mark of a sentence ends or divides one, as it does behind a word and at the end of a line.
func (a surroundings) sentence(r rune) bool {
	if r == ',' && a.after == ',' {
		return false
	}
	if among(r, "¿¡") || r == ',' && blank(a.before) { // some write a comma between blanks
		return true
	}
	if first(strings.TrimLeft(a.tail[:min(len(a.tail), longestEnd)], " \t"+sentenceMarks+quoteMarks+")")) == 0 && !(r == '!' && unicode.IsDigit(a.before)) {
		return true
	}
	if blank(a.before) || among(a.before, "([{") || among(a.before, operators) && a.before != '%' {
		return false
	}
	return !(r == '!' && unicode.IsDigit(a.before)) && !(among(r, "!?;:") && alnum(a.after))
}

// symbol reports whether a letter that ends before byte at is joined to what follows as a symbol is: a,b or i=1. Then it is
// neither article nor pronoun.
func (s *scanner) symbol(at int) bool {
	return at < len(s.text) && strings.IndexByte(",=+-*/<>^()[]", s.text[at]) >= 0
}

// indent consumes the indentation of a line, which shows the structure of code and lists.
func (s *scanner) indent() {
	rest := strings.TrimLeft(s.text[s.at:], " \t")
	if n := len(s.text) - s.at - len(rest); n > 0 && first(rest) != 0 {
		s.emit("\n"+s.text[s.at:s.at+n], code, s.at+n)
	}
}

// value reports whether a quotation that begins here is at the place of a value in code: after a colon, a comma, a bracket.
func (s *scanner) value() bool {
	return among(last(strings.TrimRight(s.text[:s.at], " ")), ":=,([{")
}
