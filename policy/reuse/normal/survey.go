package normal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// longest is how many bytes of prompt are normalised. Longer ones are documents.
const longest = 32 << 10

// maker makes the tokens of one prompt.
type maker struct {
	prompt string
	low    string // the prompt without letter case, byte for byte at the same places
	at     int    // of the scanner
	end    int    // of the last character that is no blank
	tokens []Token
	fixed  string
	data   bool
	mark   int // a question mark behind courtesy that has none before it: "on Friday please?"

	// found by survey
	gaps   bool // runs of blanks that are not between two sentences
	breaks bool
	layout bool // marks of code and data: runs of blanks beside them may be columns
	uppers int
	lowers int
}

// survey looks at every character once, before anything is compared: what only the very prompt may equal is found here.
func (m *maker) survey() {
	if len(m.prompt) > longest {
		m.fixed = "length"
		return
	}
	m.end = len(strings.TrimRight(m.prompt, " \r\n"))
	m.at = m.end - len(strings.TrimLeft(m.prompt[:m.end], " \r\n"))
	wide := false
	for i := m.at; i < m.end; {
		c := m.prompt[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(m.prompt[i:])
			if wide = true; !written(r, n) {
				m.fixed = "characters"
				return
			}
			i += n
			continue
		}
		if !m.ascii(c, i) {
			return
		}
		i++
	}
	if m.gaps && (m.layout || m.breaks) {
		m.fixed = "blanks"
		return
	}
	m.low = m.prompt
	if wide || m.uppers > 0 {
		m.low = lower(m.prompt)
	}
}

// ascii takes one byte at i into account and reports whether to go on.
func (m *maker) ascii(c byte, i int) bool {
	switch {
	case 'a' <= c && c <= 'z':
		m.lowers++
	case 'A' <= c && c <= 'Z':
		m.uppers++
	case c == ' ':
		if i > 0 && m.prompt[i-1] == ' ' && (i < 2 || !terminal(m.prompt[i-2])) {
			m.gaps = true
		}
		if i > 0 && m.prompt[i-1] == '\n' {
			m.gaps, m.breaks = true, true // an indented line
		}
	case c == '\n':
		m.breaks = true
	case c == '|' || c == '\t':
		m.fixed = "table"
	case c == '\r' && i+1 < len(m.prompt) && m.prompt[i+1] == '\n':
	case c < ' ' || c == 0x7f:
		m.fixed = "characters"
	case '0' <= c && c <= '9' || c == ':' || c == ';' || c == '{' || c == '=' || c == '`' || c == '"' || c == '<' || c == '#' || c == '_' || c == '\\':
		m.layout = true
	}
	return m.fixed == ""
}

func terminal(c byte) bool { return c == '.' || c == '!' || c == '?' }

// written reports whether a character beyond ASCII is of a text in Latin letters: a letter, a typographic quotation mark or dash, a
// currency. All others, among them blanks and joiners that are not seen, make the prompt equal to nothing but itself.
func written(r rune, n int) bool {
	switch r {
	case '‘', '’', '“', '”', '–', '—', '…', '€':
		return true
	case utf8.RuneError:
		return false
	}
	return r > 0xa0 && r != 0xad && r <= 0x24f && n == 2 && unicode.IsPrint(r)
}

// lower returns text without letter case. Every byte stays at its place: a letter whose small form is longer, or is that of another
// letter too, stays as it is.
func lower(text string) string {
	b := []byte(text)
	for i := 0; i < len(b); {
		if c := b[i]; c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				b[i] = c + 'a' - 'A'
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if s := unicode.ToLower(r); s != r && utf8.RuneLen(s) == n && unicode.ToUpper(s) == r {
			utf8.EncodeRune(b[i:], s)
		}
		i += n
	}
	return string(b)
}
