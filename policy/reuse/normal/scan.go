package normal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// scan splits the prompt into tokens. Words get their normal spelling at once; what depends on the words around follows in rules.
func (m *maker) scan() {
	m.tokens = make([]Token, 0, (m.end-m.at)/4+4)
	for m.at < m.end && m.fixed == "" {
		switch m.prompt[m.at] {
		case ' ', '\r':
			m.at++
		case '\n':
			m.lineBreak()
		default:
			if !m.quotation() {
				m.chunk()
			}
		}
	}
}

// lineBreak emits the line breaks at m.at as one token.
func (m *maker) lineBreak() {
	from := m.at
	for m.at < m.end && strings.IndexByte("\r\n ", m.prompt[m.at]) >= 0 {
		m.at++
	}
	text := "\n"
	if strings.Count(m.prompt[from:m.at], "\n") > 1 {
		text = "\n\n"
	}
	m.emit(Token{Text: text, Kind: Break, From: from, To: m.at})
}

// emit appends a token and finds out whether it begins a sentence.
func (m *maker) emit(t Token) {
	t.First = len(m.tokens) == 0
	if n := len(m.tokens); n > 0 {
		switch last := &m.tokens[n-1]; last.Kind {
		case Mark:
			t.First = last.class&ending != 0 || last.First || last.class&opening != 0 && last.First
		case Break:
			t.First = true
		}
	}
	m.tokens = append(m.tokens, t)
}

// quotation emits what begins at m.at with a quotation mark or a backtick, up to its other end.
func (m *maker) quotation() bool {
	rest := m.prompt[m.at:m.end]
	if rest[0] == '`' {
		m.fence(rest)
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
		return m.apostrophes(rest, 1, "'")
	case strings.HasPrefix(rest, "‘"):
		return m.apostrophes(rest, len("‘"), "’")
	default:
		return false
	}
	n := strings.Index(rest[open:], close)
	if n < 0 {
		m.fixed = "quotes"
		return true
	}
	m.quoted(open, n, len(close))
	return true
}

// apostrophes emits words between single quotation marks: the second one must end a word.
func (m *maker) apostrophes(rest string, open int, mark string) bool {
	for i := open; ; {
		n := strings.Index(rest[i:], mark)
		if n < 0 || strings.IndexByte(rest[:i+n], '\n') >= 0 {
			return false
		}
		i += n
		if r, _ := utf8.DecodeRuneInString(rest[i+len(mark):]); i > open && rest[i-1] != ' ' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			m.quoted(open, i-open, len(mark))
			return true
		}
		i += len(mark)
	}
}

// quoted emits a quotation of n bytes between marks of open and close bytes. Words with single blanks between are tokens, all else is
// compared byte by byte.
func (m *maker) quoted(open, n, close int) {
	from, to := m.at+open, m.at+open+n
	m.at = to + close
	if r, _ := utf8.DecodeRuneInString(m.prompt[m.at:m.end]); unicode.IsLetter(r) || unicode.IsDigit(r) {
		m.fixed = "quotes"
		return
	}
	m.emit(Token{Text: `"`, Kind: Mark, class: opening, From: from - open, To: from})
	if !spaced(m.prompt[from:to]) {
		m.emit(Token{Text: m.prompt[from:to], Kind: Code, Quoted: true, From: from, To: to})
	} else {
		for at := from; at < to; {
			end := at
			for end < to && m.prompt[end] != ' ' {
				end++
			}
			c, _ := utf8.DecodeRuneInString(m.prompt[at:end])
			m.emit(Token{Text: m.prompt[at:end], Quoted: true, Capital: unicode.IsUpper(c), From: at, To: end})
			at = end + 1
		}
	}
	m.emit(Token{Text: `"`, Kind: Mark, From: to, To: to + close})
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
func (m *maker) fence(rest string) {
	n := len(rest) - len(strings.TrimLeft(rest, "`"))
	end := strings.Index(rest[n:], rest[:n])
	if end <= 0 || end == 0 && n < 3 {
		m.fixed = "fence"
		return
	}
	to := m.at + n + end + n
	for to < m.end && strings.IndexByte(" \n\r.,;:!?)", m.prompt[to]) < 0 {
		to++ // an s behind the closing backtick
	}
	m.emit(Token{Text: m.prompt[m.at:to], Kind: Code, From: m.at, To: to})
	m.at = to
}

// chunk emits the tokens of a run without blanks.
func (m *maker) chunk() {
	to := m.at
	for to < m.end {
		if c := m.prompt[to]; c == ' ' || c == '\n' || c == '\r' {
			break
		}
		to++
	}
	for m.at < to && strings.IndexByte("([{", m.prompt[m.at]) >= 0 {
		m.emit(Token{Text: m.prompt[m.at : m.at+1], Kind: Mark, class: opening, From: m.at, To: m.at + 1})
		m.at++
		if m.at < to && m.quotation() {
			return
		}
	}
	if m.at == to {
		return
	}
	core := m.at + len(strings.TrimRight(m.prompt[m.at:to], ".,;:!?)]}…"))
	if core > m.at {
		m.core(core)
	}
	m.at = core
	m.marks(to)
}

// marks emits the punctuation between m.at and to.
func (m *maker) marks(to int) {
	blank := m.at > 0 && m.prompt[m.at-1] == ' '
	for m.at < to {
		end := m.at
		for end < to && strings.IndexByte(".!?\xe2\x80\xa6", m.prompt[end]) >= 0 {
			end++
		}
		if end > m.at {
			m.emit(Token{Text: sentenceMark(m.prompt[m.at:end]), Kind: Mark, class: ending, From: m.at, To: end})
			m.at = end
			continue
		}
		text := m.prompt[m.at : m.at+1]
		if blank && strings.IndexByte(")]}", text[0]) < 0 {
			text = m.prompt[m.at-1 : m.at+1]
		}
		m.emit(Token{Text: text, Kind: Mark, From: m.at, To: m.at + 1})
		m.at++
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
	}
	return "."
}
