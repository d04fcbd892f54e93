package cli

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fold breaks text into lines of at most width characters, except for longer words. The first line follows indent characters
// that are already written; the others begin with as many spaces.
func Fold(text string, indent, width int) string {
	var b strings.Builder
	used := indent
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case used > indent && used+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			used = indent
		case used > indent:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String()
}

// Thousands groups digits: 1234567 is 1,234,567.
func Thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Bytes returns a size in the largest unit that fits, with one digit behind the point: 1536 is 1.5 KiB.
func Bytes(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
}

// Plain is a text of another program as a terminal may show it: a space is in place of each control character, of which some are commands of a
// terminal, and of each mark that turns the direction of writing. Line feeds stay.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) || r == 0x200e || r == 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}
