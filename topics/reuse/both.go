package reuse

import "sort"

// line is how far a scanner was behind the indentation of a line, or behind the mark that ends a sentence.
type line struct {
	at, tokens, words, capitals int
	newLine                     bool
}

// keep records how far the scanner is, outside quotations.
func (s *scanner) keep() {
	if s.at >= s.quoteEnd {
		s.lines = append(s.lines, line{s.at, len(s.out), s.words, s.capitals, s.newLine})
	}
}

// longPrompt is the length in bytes from which two prompts are scanned by parts.
const longPrompt = 1 << 10

// margin is more than a token depends on of the lines behind it: longestQuote, and the marks around it.
const margin = 2 * longestQuote

// scanBoth is scan of two prompts. Where they are long, the lines and sentences that both begin and end with are scanned once: outside a
// quotation the tokens of one depend on no earlier one, and only on a few bytes of later ones.
func scanBoth(x, y string) (a, b []token) {
	if len(x) < longPrompt || len(y) < longPrompt {
		return scan(x), scan(y)
	}
	s, t := newScanner(x), newScanner(y)
	for s.at < len(s.text) {
		s.step()
	}
	takeHead(t, s)
	for same := len(y) - sameTail(x, y); t.at < len(t.text); {
		from, kept := t.at, len(t.lines)
		if t.step(); from >= same && len(t.lines) > kept && takeTail(t, s) {
			break
		}
	}
	return s.finish(), t.finish()
}

// takeHead gives t the tokens of s, which is ready, for the lines that both texts begin with.
func takeHead(t, s *scanner) {
	same := sameHead(s.text, t.text)
	n := sort.Search(len(s.lines), func(i int) bool { return s.lines[i].at+margin > same })
	if n == 0 || s.open {
		return
	}
	l := s.lines[n-1]
	t.at, t.words, t.capitals, t.start, t.pausing, t.newLine = l.at, l.words, l.capitals, true, true, l.newLine
	t.out = append(t.out, s.out[:l.tokens]...)
}

// takeTail gives t the tokens of s, which is ready, for all behind t.at, and reports whether s has a line there. It is called where
// both texts end alike.
func takeTail(t, s *scanner) bool {
	at := t.at + len(s.text) - len(t.text)
	i := sort.Search(len(s.lines), func(i int) bool { return s.lines[i].at >= at })
	if i == len(s.lines) || s.lines[i].at != at || s.lines[i].newLine != t.newLine {
		return false
	}
	l := s.lines[i]
	t.words, t.capitals = t.words+s.words-l.words, t.capitals+s.capitals-l.capitals
	t.out = append(t.out, s.out[l.tokens:]...)
	return true
}

func sameHead(x, y string) int {
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	return n
}

func sameTail(x, y string) int {
	n := 0
	for n < len(x) && n < len(y) && x[len(x)-1-n] == y[len(y)-1-n] {
		n++
	}
	return n
}
