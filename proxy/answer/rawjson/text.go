package rawjson

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// decode returns what the inside of a JSON string stands for, each UTF-16 code unit above U+007F in three bytes: it is the same whatever the
// string has as escapes, and of two fragments it is that of both, even where they split a pair.
func decode(s string) string {
	if !strings.Contains(s, `\`) && isASCII(s) {
		return s
	}
	b := make([]byte, 0, 2*len(s))
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			r, size := utf8.DecodeRuneInString(s[i:])
			b = appendUnits(b, r)
			i += size
			continue
		}
		c := s[i+1]
		i += 2
		if n, err := strconv.ParseUint(s[i:min(i+4, len(s))], 16, 16); c == 'u' && err == nil {
			b = appendUnit(b, rune(n))
			i += 4
		} else if at := strings.IndexByte("bfnrt", c); at >= 0 {
			b = append(b, "\b\f\n\r\t"[at])
		} else {
			b = append(b, c)
		}
	}
	return View(b)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// appendUnits appends the code units of a character.
func appendUnits(b []byte, r rune) []byte {
	if r < 1<<16 {
		return appendUnit(b, r)
	}
	return appendUnit(appendUnit(b, 0xd7c0+r>>10), 0xdc00+r&0x3ff)
}

// appendUnit appends a code unit.
func appendUnit(b []byte, u rune) []byte {
	if u < utf8.RuneSelf {
		return append(b, byte(u))
	}
	return append(b, 0xe0|byte(u>>12), byte(u>>6)&0x3f|0x80, byte(u)&0x3f|0x80)
}
