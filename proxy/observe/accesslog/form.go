package accesslog

import (
	"strconv"
	"unicode/utf8"

	"reprise/proxy/observe"
)

// How many bytes of a text are written, of a reason and of any other.
const (
	mostReason = 512
	mostText   = 128
)

// field is one of a line.
type field int

const (
	requestID field = iota
	tenant
	endpoint
	model
	result
	why
	similarity
	status
	size
	stream
	duration
	waited
	saved
	upstream
	upstreamID
	lost // of the line about dropped lines
	fields
)

var names = [fields]string{"request_id", "tenant", "endpoint", "model", "result", "why", "similarity_from", "status", "bytes", "stream", "duration_ms", "upstream_ms",
	"tokens_saved", "upstream", "upstream_request_id", "lost"}

// form is a way to write fields.
type form struct {
	names [fields]string // with what is before and after them
	quote func(b []byte, s string) []byte
}

var text, inJSON = newForm(" ", "=", appendQuoted), newForm(`,"`, `":`, appendJSONString)

func newForm(before, after string, quote func([]byte, string) []byte) *form {
	f := &form{quote: quote}
	for i, name := range names {
		f.names[i] = before + name + after
	}
	return f
}

func (f *form) name(b []byte, name field) []byte { return append(b, f.names[name]...) }

// text appends a field, unless its value is empty, and the first bytes of its value, up to most.
func (f *form) text(b []byte, name field, value string, most int) []byte {
	if value == "" {
		return b
	}
	return f.quote(f.name(b, name), observe.Head(value, most))
}

// appendQuoted appends s as slog's TextHandler would, but in ASCII: a line separator of Unicode is one to some readers of logs, and
// some characters change the direction of what a terminal shows.
func appendQuoted(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c == ' ' || c == '=' || escaped[c] && c != '\\' {
			return strconv.AppendQuoteToASCII(b, s)
		}
	}
	return append(b, s...)
}

// escaped are the bytes that no string has as they are: those that are not printable in ASCII, quotation marks and backslashes.
var escaped = func() (set [256]bool) {
	for c := range set {
		set[c] = c < ' ' || c > '~' || c == '"' || c == '\\'
	}
	return set
}()

const hexDigits = "0123456789abcdef"

// appendJSONString appends s as a string of JSON in ASCII. Bytes that are no UTF-8 become U+FFFD.
func appendJSONString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		plain := i
		for i < len(s) && !escaped[s[i]] {
			i++
		}
		if b = append(b, s[plain:i]...); i == len(s) {
			break
		}
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < utf8.RuneSelf:
			b = appendEscape(b, rune(c))
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			b = appendRune(b, r)
			i += size
			continue
		}
		i++
	}
	return append(b, '"')
}

// appendRune appends a character beyond ASCII, as a pair of surrogates where it needs two.
func appendRune(b []byte, r rune) []byte {
	if r < 0x10000 {
		return appendEscape(b, r)
	}
	r -= 0x10000
	return appendEscape(appendEscape(b, 0xd800+r>>10), 0xdc00+r&0x3ff)
}

func appendEscape(b []byte, r rune) []byte {
	return append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}
