package embed

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// word is one token of a text.
type word struct {
	text   []byte // lower case, inside the buffer of tokenize
	hash   uint64 // of text
	stem   uint64 // hash of the stem
	weight float32
}

// tokenize appends the tokens of text to words and their bytes to buf; the caller may allocate both on the stack. A token is
// a run of letters, marks and digits; a single Han, kana or Hangul rune; a decimal number such as 3.5; or a name such as c++
// and c#. A contracted negation is two tokens: don't is do and not.
func tokenize(text string, buf []byte, words []word) []word {
	start := 0
	flush := func() {
		if start < len(buf) {
			words = appendWord(words, buf[start:])
			start = len(buf)
		}
	}
	for i, r := range text {
		switch {
		case ideograph(r):
			flush()
			buf = utf8.AppendRune(buf, r)
			flush()
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			buf = utf8.AppendRune(buf, unicode.ToLower(r))
		case r == '.' && betweenDigits(text, i):
			buf = append(buf, '.')
		case (r == '+' || r == '#') && programming(buf[start:], text[i:]):
			buf = append(buf, byte(r))
		case (r == '\'' || r == '’') && len(buf) > start && letterAt(text, i+utf8.RuneLen(r)):
			buf = append(buf, '\'')
		default:
			flush()
		}
	}
	flush()
	return words
}

// appendWord appends one token, or two for a contraction.
func appendWord(words []word, text []byte) []word {
	if head, ok := contracted(text); ok {
		if len(head) > 0 {
			words = append(words, newWord(head))
		}
		return append(words, newWord(not))
	}
	if at := bytes.IndexByte(text, '\''); at >= 0 {
		text = text[:at] // 's, 're, 'll and the like add nothing
	}
	if len(text) == 0 {
		return words
	}
	return append(words, newWord(text))
}

func newWord(text []byte) word {
	if negations[string(text)] {
		text = not
	}
	h, w := hashBytes(text), weight(text)
	if s := stem(text); len(s) < len(text) {
		return word{text, h, hashBytes(s), w}
	}
	return word{text, h, h, w}
}

func ideograph(r rune) bool {
	return r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

func betweenDigits(text string, i int) bool {
	return i > 0 && i+1 < len(text) && digit(text[i-1]) && digit(text[i+1])
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// programming reports whether the + or # at the start of rest ends a name of one letter: c++, c#, f#.
func programming(before []byte, rest string) bool {
	if len(before) == 2 && before[1] == '+' {
		return rest[0] == '+' && !letterAt(rest, 1)
	}
	if len(before) != 1 || before[0] < 'a' || before[0] > 'z' {
		return false
	}
	if rest[0] == '#' {
		return !letterAt(rest, 1)
	}
	return len(rest) > 1 && rest[1] == '+' && !letterAt(rest, 2)
}

// letterAt reports whether a letter or digit begins at byte i.
func letterAt(text string, i int) bool {
	if i >= len(text) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(text[i:])
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}
