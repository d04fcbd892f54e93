package embed

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// word is one token of a text. It has no pointers, and the functions below return the buffers they append to, so that those of a
// short text can be on the stack.
type word struct {
	hash     uint64 // of its text
	stem     uint64 // hash of the stem
	from, to int32  // place of its text in the buffer of tokenize
	weight   float32
}

// tokenize appends the tokens of text to words and their bytes, in lower case, to buf, which must begin with the token not. A token
// is a run of letters, marks and digits; a single Han, kana or Hangul rune; a decimal number such as 3.5; or a name such as c++ and
// c#. A contracted negation is two tokens: don't is do and not.
func tokenize(text string, buf []byte, words []word) ([]byte, []word) {
	start, apostrophe := len(buf), false
	for i := 0; i < len(text); {
		if c := lowered[text[i]]; c != 0 {
			buf = append(buf, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r >= utf8.RuneSelf && ideograph(r):
			words = appendWords(words, buf, start, apostrophe)
			start, apostrophe = len(buf), false
			buf = utf8.AppendRune(buf, r)
			words = appendWord(words, buf, start, len(buf))
			start = len(buf)
		case r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)):
			buf = utf8.AppendRune(buf, unicode.ToLower(r))
		case r == '.' && betweenDigits(text, i), (r == '+' || r == '#') && programming(buf[start:], text[i:]):
			buf = append(buf, byte(r))
		case (r == '\'' || r == '’') && start < len(buf) && letterAt(text, i+n):
			buf, apostrophe = append(buf, '\''), true
		default:
			words = appendWords(words, buf, start, apostrophe)
			start, apostrophe = len(buf), false
		}
		i += n
	}
	return buf, appendWords(words, buf, start, apostrophe)
}

// appendWords appends the words at the end of buf: none if it is empty, one, or two of a contracted negation. Other things behind
// an apostrophe ('s, 're, 'll) add nothing.
func appendWords(words []word, buf []byte, from int, apostrophe bool) []word {
	to := len(buf)
	if apostrophe {
		if head, ok := contracted(buf[from:]); ok {
			return append(appendWord(words, buf, from, from+len(head)), notWord)
		}
		to = from + bytes.IndexByte(buf[from:], '\'')
	}
	return appendWord(words, buf, from, to)
}

// appendWord appends the word at buf[from:to], if there is one.
func appendWord(words []word, buf []byte, from, to int) []word {
	text := buf[from:to]
	if len(text) == 0 {
		return words
	}
	w := word{hash: hashBytes(text), from: int32(from), to: int32(to)}
	w.stem, w.weight = w.hash, weight(w.hash, text)
	if w.weight == negated {
		return append(words, notWord)
	}
	if s := stem(text); len(s) < len(text) {
		w.stem = hashBytes(s)
	}
	return append(words, w)
}

// notWord is the token of every negation; its text is at the beginning of the buffer.
var notWord = word{hash: hashBytes(not), stem: hashBytes(not), to: int32(len(not)), weight: tierFull}

// lowered maps each ASCII letter or digit to itself in lower case, all other bytes to 0.
var lowered = func() (t [256]byte) {
	for c := range byte(utf8.RuneSelf) {
		if r := rune(c); unicode.IsLetter(r) || unicode.IsDigit(r) {
			t[c] = byte(unicode.ToLower(r))
		}
	}
	return t
}()

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
