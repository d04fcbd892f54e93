package normal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Characters is the reason of Form.Fixed for characters that are hidden or of another script: an embedder of meaning may compare the latter.
const Characters = "characters"

// longest is how many bytes of prompt are normalised. Longer ones are documents.
const longest = 32 << 10

// scanner makes tokens of a prompt. What depends on the words around is left to the maker.
type scanner struct {
	prompt string
	low    string // the prompt without letter case, byte for byte at the same places
	at     int
	end    int // of the last character that is no blank
	tokens tokens
	fixed  string // see Form

	// found by survey
	gaps   bool // runs of blanks that are not between two sentences
	breaks bool
	layout bool // marks of code and data: runs of blanks beside them may be columns
	uppers int
	lowers int
}

// survey looks at every character once, before anything is compared: what only the very prompt may equal is found here.
func (s *scanner) survey() {
	if len(s.prompt) > longest {
		s.fixed = "length"
		return
	}
	s.end = len(strings.TrimRight(s.prompt, " \r\n"))
	s.at = s.end - len(strings.TrimLeft(s.prompt[:s.end], " \r\n"))
	wide := false
	for i := s.at; i < s.end; {
		c := s.prompt[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s.prompt[i:])
			if wide = true; !written(r, n) {
				s.fixed = Characters
				return
			}
			i += n
			continue
		}
		if !s.ascii(c, i) {
			return
		}
		i++
	}
	if s.gaps && (s.layout || s.breaks) {
		s.fixed = "blanks"
		return
	}
	switch s.low = s.prompt; {
	case wide:
		s.low = lower(s.prompt)
	case s.uppers > 0:
		s.low = strings.ToLower(s.prompt)
	}
}

// ascii takes one byte at i into account and reports whether to go on.
func (s *scanner) ascii(c byte, i int) bool {
	switch {
	case 'a' <= c && c <= 'z':
		s.lowers++
	case 'A' <= c && c <= 'Z':
		s.uppers++
	case c == ' ':
		if i > 0 && s.prompt[i-1] == ' ' && (i < 2 || !terminal(s.prompt[i-2])) {
			s.gaps = true
		}
		if i > 0 && s.prompt[i-1] == '\n' {
			s.gaps, s.breaks = true, true // an indented line
		}
	case c == '\n':
		s.breaks = true
	case c == '|' || c == '\t':
		s.fixed = "table"
	case c == '\r' && i+1 < len(s.prompt) && s.prompt[i+1] == '\n':
	case c < ' ' || c == 0x7f:
		s.fixed = Characters
	case '0' <= c && c <= '9' || c == ':' || c == ';' || c == '{' || c == '=' || c == '`' || c == '"' || c == '<' || c == '#' || c == '_' || c == '\\':
		s.layout = true
	}
	return s.fixed == ""
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
