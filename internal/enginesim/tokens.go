package enginesim

import (
	"unicode"
	"unicode/utf8"
)

// Token is the identity of one piece of text: equal pieces are equal tokens.
type Token uint64

// pieceBytes bounds a piece of letters: an English word has some 1.25 tokens, a Han character half of one.
const pieceBytes = 6

// digitsPerPiece cuts numbers as the tokenizers of large models do.
const digitsPerPiece = 3

// split cuts text into pieces that join to the same text: up to six bytes of one word with the space before it, up to
// three digits with the space before them, a run of white space, or any other single rune.
func split(text string) []string {
	pieces := make([]string, 0, len(text)/4+1)
	for len(text) > 0 {
		n := pieceLen(text)
		pieces = append(pieces, text[:n])
		text = text[n:]
	}
	return pieces
}

// countTokens is len(split(text)) without the pieces.
func countTokens(text string) int {
	count := 0
	for len(text) > 0 {
		text = text[pieceLen(text):]
		count++
	}
	return count
}

type class int

const (
	other class = iota
	letter
	digit
	space
)

func classOf(r rune) class {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
		return letter
	case '0' <= r && r <= '9':
		return digit
	case r == ' ' || r == '\n':
		return space
	case r < utf8.RuneSelf && r > ' ':
		return other
	case unicode.IsLetter(r), unicode.IsMark(r):
		return letter
	case unicode.IsSpace(r):
		return space
	}
	return other
}

// pieceLen is the length in bytes of the first piece of text, which is not empty.
func pieceLen(text string) int {
	lead := 0
	if text[0] == ' ' && len(text) > 1 {
		if c, _ := classAt(text[1:]); c == letter || c == digit {
			lead = 1
		}
	}
	c, size := classAt(text[lead:])
	if c == other {
		return lead + size
	}
	return lead + runLen(text[lead:], c)
}

func classAt(text string) (class, int) {
	r, size := utf8.DecodeRuneInString(text)
	return classOf(r), size
}

// runLen is the length of the first piece of text, of class c.
func runLen(text string, c class) int {
	limit := len(text)
	switch c {
	case letter:
		limit = pieceBytes
	case digit:
		limit = digitsPerPiece
	}
	n := 0
	for n < len(text) {
		got, size := classAt(text[n:])
		if got != c || (n > 0 && n+size > limit) {
			break
		}
		// The last blank before a word belongs to the word.
		if c == space && n > 0 && text[n] == ' ' && startsWord(text[n+size:]) {
			break
		}
		n += size
	}
	return n
}

func startsWord(text string) bool {
	if text == "" {
		return false
	}
	c, _ := classAt(text)
	return c == letter || c == digit
}

// tokenOf hashes one piece (64-bit FNV-1a).
func tokenOf(piece string) Token {
	h := uint64(14695981039346656037)
	for i := range len(piece) {
		h ^= uint64(piece[i])
		h *= 1099511628211
	}
	return Token(h)
}

// appendTokens appends the tokens of text to dst.
func appendTokens(dst []Token, text string) []Token {
	for len(text) > 0 {
		n := pieceLen(text)
		dst = append(dst, tokenOf(text[:n]))
		text = text[n:]
	}
	return dst
}

// Tokenize returns the tokens of text.
func Tokenize(text string) []Token { return appendTokens(make([]Token, 0, len(text)/4+1), text) }
