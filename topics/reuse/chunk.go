package reuse

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// atChunk reports whether a run of text between spaces begins here.
func (s *scanner) atChunk() bool {
	return (s.at == 0 || ascii[s.text[s.at-1]]&opening != 0) && ascii[s.text[s.at]]&opening == 0
}

// longestChunk bounds how far chunk looks ahead.
const longestChunk = 256

// chunk consumes a run between spaces as one token of code if it looks like code.
func (s *scanner) chunk() bool {
	if s.at < s.prose {
		return false
	}
	end, limit, signs := s.at, min(len(s.text), s.at+longestChunk), 0
	for ; end < limit && ascii[s.text[end]]&outside == 0; end++ {
		if ascii[s.text[end]]&sign != 0 {
			signs++
		}
	}
	if signs == 0 {
		return false
	}
	to := end
	for ; to > s.at && ascii[s.text[to-1]]&trailing != 0; to-- {
		signs--
	}
	if to == s.at {
		return false
	}
	if signs == 0 { // letters and digits at the end of a sentence
		s.prose = end
		return false
	}
	piece := s.text[s.at:to]
	if strings.HasSuffix(piece, "(") && strings.HasPrefix(s.text[s.at+len(piece):], ")") {
		piece = s.text[s.at : s.at+len(piece)+1] // f() keeps its brackets
	}
	if !codelike(piece) {
		s.prose = end
		return false
	}
	s.emit(piece, code, s.at+len(piece))
	return true
}

// codelike reports whether a run is an identifier, path, address, flag or operator, and not prose.
func codelike(p string) bool {
	switch {
	case strings.Contains(p, "://") || strings.HasPrefix(p, "www."):
		return true
	case strings.HasPrefix(p, "-") && len(p) > 1 && letter(strings.TrimLeft(p, "-")):
		return true
	case strings.HasPrefix(p, "$") && letter(p[1:]):
		return true
	case len(p) > 1 && (p[0] == '/' || p[0] == '~' || p[0] == '.') && letter(strings.TrimLeft(p, "~./")):
		return true
	}
	return operator(p) || joined(p)
}

// operator reports whether p contains a backslash or one of :: -> => == != <= >= && || := ().
func operator(p string) bool {
	for i := 1; i < len(p); i++ {
		switch c := p[i]; p[i-1] {
		case ':':
			if c == ':' || c == '=' {
				return true
			}
		case '=':
			if c == '>' || c == '=' {
				return true
			}
		case '!', '<', '>':
			if c == '=' {
				return true
			}
		case '-':
			if c == '>' {
				return true
			}
		case '&', '|':
			if c == p[i-1] {
				return true
			}
		case '(':
			if c == ')' {
				return true
			}
		}
	}
	return strings.IndexByte(p, '\\') >= 0
}

func letter(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r)
}

// joined reports whether letters or digits are held together by _ or @, by two slashes, or by a dot that is neither
// that of an abbreviation (e.g., U.S.) nor that of a number.
func joined(p string) bool {
	slashes := 0
	for i := 1; i+1 < len(p); i++ {
		if !alnumBefore(p, i) || !alnumAt(p, i+1) || digit(p[i-1]) && digit(p[i+1]) {
			continue
		}
		switch p[i] {
		case '_', '@':
			return true
		case '/':
			slashes++
		case '.':
			if named(p[:i]) || named(p[i+1:]) {
				return true
			}
		}
	}
	return slashes > 1
}

// named reports whether part of a dotted name, up to its next dot, has a letter and more than one character.
func named(p string) bool {
	p, _, _ = strings.Cut(p, ".")
	return len(p) > 1 && strings.ContainsFunc(p, unicode.IsLetter)
}
