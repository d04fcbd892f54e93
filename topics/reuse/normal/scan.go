package normal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// scan splits the prompt into tokens. Words get their normal spelling at once; what depends on the words around follows in rules.
func (s *scanner) scan() {
	s.tokens = make([]Token, 0, (s.end-s.at)/4+4)
	for s.at < s.end && s.fixed == "" {
		switch s.prompt[s.at] {
		case ' ', '\r':
			s.at++
		case '\n':
			s.lineBreak()
		default:
			if !s.quotation() {
				s.chunk()
			}
		}
	}
}

// lineBreak emits the line breaks at m.at as one token.
func (s *scanner) lineBreak() {
	from := s.at
	for s.at < s.end && strings.IndexByte("\r\n ", s.prompt[s.at]) >= 0 {
		s.at++
	}
	text := "\n"
	if strings.Count(s.prompt[from:s.at], "\n") > 1 {
		text = "\n\n"
	}
	s.emit(Token{Text: text, Kind: Break, From: from, To: s.at})
}

// emit appends a token and finds out whether it begins a sentence.
func (s *scanner) emit(t Token) {
	t.First = len(s.tokens) == 0
	if n := len(s.tokens); n > 0 {
		switch last := &s.tokens[n-1]; last.Kind {
		case Mark:
			t.First = last.class&ending != 0 || last.First || last.class&opening != 0 && last.First
		case Break:
			t.First = true
		}
	}
	s.tokens = append(s.tokens, t)
}

// quotation emits what begins at m.at with a quotation mark or a backtick, up to its other end.
func (s *scanner) quotation() bool {
	rest := s.prompt[s.at:s.end]
	if rest[0] == '`' {
		s.fence(rest)
		return true
	}
	open, close := 0, ""
	switch {
	case rest[0] == '"':
		open, close = 1, `"`
	case strings.HasPrefix(rest, "“"):
		open, close = len("“"), "”"
	case strings.HasPrefix(rest, "«"):
		open, close = len("«"), "»"
	case rest[0] == '\'':
		return s.apostrophes(rest, 1, "'")
	case strings.HasPrefix(rest, "‘"):
		return s.apostrophes(rest, len("‘"), "’")
	default:
		return false
	}
	n := strings.Index(rest[open:], close)
	if n < 0 {
		s.fixed = "quotes"
		return true
	}
	s.quoted(open, n, len(close))
	return true
}

// apostrophes emits words between single quotation marks: the second one must end a word.
func (s *scanner) apostrophes(rest string, open int, mark string) bool {
	rest = rest[:min(len(rest), 256)]
	for i := open; ; {
		n := strings.Index(rest[i:], mark)
		if n < 0 || strings.IndexByte(rest[:i+n], '\n') >= 0 {
			return false
		}
		i += n
		if r, _ := utf8.DecodeRuneInString(rest[i+len(mark):]); i > open && rest[i-1] != ' ' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			s.quoted(open, i-open, len(mark))
			return true
		}
		i += len(mark)
	}
}

// quoted emits a quotation of n bytes between marks of open and close bytes. Words with single blanks between are tokens, all else is
// compared byte by byte.
func (s *scanner) quoted(open, n, close int) {
	from, to := s.at+open, s.at+open+n
	s.at = to + close
	if r, _ := utf8.DecodeRuneInString(s.prompt[s.at:s.end]); unicode.IsLetter(r) || unicode.IsDigit(r) {
		s.fixed = "quotes"
		return
	}
	mark := `"`
	if s.prompt[from-1] == '\'' || s.prompt[to:s.at] == "’" {
		mark = "'" // in many languages other than double ones
	}
	s.emit(Token{Text: mark, Kind: Mark, class: opening, From: from - open, To: from})
	if from < to && !spaced(s.prompt[from:to]) {
		s.emit(Token{Text: s.prompt[from:to], Kind: Code, Quoted: true, From: from, To: to})
	} else {
		for at := from; at < to; {
			end := at
			for end < to && s.prompt[end] != ' ' {
				end++
			}
			c, _ := utf8.DecodeRuneInString(s.prompt[at:end])
			s.emit(Token{Text: s.prompt[at:end], Quoted: true, Capital: unicode.IsUpper(c), From: at, To: end})
			at = end + 1
		}
	}
	s.emit(Token{Text: mark, Kind: Mark, From: to, To: to + close})
}

// spaced reports whether a text is words of letters with single blanks between.
func spaced(text string) bool {
	blank := true
	for _, r := range text {
		switch {
		case r == ' ' && !blank:
			blank = true
		case r == ' ' || !unicode.IsLetter(r):
			return false
		default:
			blank = false
		}
	}
	return !blank
}

// fence emits code between backticks.
func (s *scanner) fence(rest string) {
	n := len(rest) - len(strings.TrimLeft(rest, "`"))
	end := strings.Index(rest[n:], rest[:n])
	if end <= 0 || end == 0 && n < 3 {
		s.fixed = "fence"
		return
	}
	to := s.at + n + end + n
	for to < s.end && strings.IndexByte(" \n\r.,;:!?)", s.prompt[to]) < 0 {
		to++ // an s behind the closing backtick
	}
	s.emit(Token{Text: s.prompt[s.at:to], Kind: Code, From: s.at, To: to})
	s.at = to
}

// chunk emits the tokens of a run without blanks.
func (s *scanner) chunk() {
	to := s.at
	for to < s.end {
		if c := s.prompt[to]; c == ' ' || c == '\n' || c == '\r' {
			break
		}
		to++
	}
	for s.at < to && strings.IndexByte("([{", s.prompt[s.at]) >= 0 {
		s.emit(Token{Text: s.prompt[s.at : s.at+1], Kind: Mark, class: opening, From: s.at, To: s.at + 1})
		s.at++
		if s.at < to && s.quotation() {
			return
		}
	}
	if s.at == to {
		return
	}
	core := to
	for core > s.at && (strings.IndexByte(".,;:!?)]}", s.prompt[core-1]) >= 0 || strings.HasSuffix(s.prompt[s.at:core], "…")) {
		if core--; s.prompt[core] >= utf8.RuneSelf {
			core -= len("…") - 1
		}
	}
	if core > s.at && core < to && s.prompt[core] == '!' && (core == s.at+1 || s.prompt[core-1] >= '0' && s.prompt[core-1] <= '9') {
		core++ // a factorial
	}
	if core > s.at {
		s.core(core)
	}
	s.at = core
	s.marks(to)
}

// marks emits the punctuation between m.at and to.
func (s *scanner) marks(to int) {
	blank := s.at > 0 && s.prompt[s.at-1] == ' '
	for s.at < to {
		end := s.at
		for end < to && strings.IndexByte(".!?\xe2\x80\xa6", s.prompt[end]) >= 0 {
			end++
		}
		if end > s.at {
			s.emit(Token{Text: sentenceMark(s.prompt[s.at:end]), Kind: Mark, class: ending, From: s.at, To: end})
			s.at = end
			continue
		}
		text := s.prompt[s.at : s.at+1]
		if blank && strings.IndexByte(")]}", text[0]) < 0 {
			text = s.prompt[s.at-1 : s.at+1]
		}
		s.emit(Token{Text: text, Kind: Mark, From: s.at, To: s.at + 1})
		s.at++
		blank = false
	}
}

// sentenceMark returns the one mark that a run of them amounts to.
func sentenceMark(run string) string {
	switch {
	case strings.IndexByte(run, '?') >= 0:
		return "?"
	case strings.Contains(run, "…") || strings.Contains(run, ".."):
		return "..."
	case strings.IndexByte(run, '!') >= 0:
		return "!"
	}
	return "."
}
