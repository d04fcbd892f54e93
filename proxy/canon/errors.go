package canon

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The codes of an Error.
const (
	codeJSON      = "invalid_json"        // not the grammar of RFC 8259
	codeUnicode   = "invalid_unicode"     // bad UTF-8 or half a surrogate pair
	codeDuplicate = "duplicate_name"      // a name twice in one object
	codeCase      = "ambiguous_name"      // a name that is a known field except for its letter case
	codeDepth     = "nested_too_deep"     // more than maxDepth levels
	codeRange     = "number_out_of_range" // beyond a 64-bit float
	codeMissing   = "missing_field"       // a required field is absent
	codeType      = "invalid_type"        // a field of another type than the API's
	codeSize      = "too_large"           // more values or messages, or a longer name, than allowed
)

// Error is the refusal of a body. Message quotes at most 40 bytes of the body, all of them in the path.
type Error struct {
	Status  int    // always 400
	Code    string // one of the codes above
	Param   string // JSON path of the place, e.g. messages[2].role; its head cut where long; "" for the whole body
	Offset  int    // byte offset of the place in the body
	Message string // what, where and what is allowed
}

func (e *Error) Error() string { return e.Message }

// refuse starts an Error. Its path grows while the reading functions return, and finish completes the message.
func refuse(code string, offset int, format string, args ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Code: code, Offset: offset, Message: fmt.Sprintf(format, args...)}
}

const (
	maxPath  = 40 // bytes
	maxLabel = 24 // bytes of one name
)

// under puts the name of a member in front of the path.
func (e *Error) under(name []byte) *Error { return e.prefix(label(name)) }

// at puts the index of an array in front of the path.
func (e *Error) at(index int) *Error { return e.prefix("[" + strconv.Itoa(index) + "]") }

func (e *Error) prefix(s string) *Error {
	if e.Param == "" || e.Param[0] != '[' {
		s += "."
	}
	switch {
	case e.Param == "":
		e.Param = strings.TrimSuffix(s, ".")
	case strings.HasPrefix(e.Param, "…"):
	case len(s)+len(e.Param) > maxPath:
		e.Param = "…" + e.Param
	default:
		e.Param = s + e.Param
	}
	return e
}

// finish completes the message with the path and the offset.
func (e *Error) finish() *Error {
	if e.Param != "" {
		e.Message = e.Param + ": " + e.Message
	}
	e.Message += fmt.Sprintf(" (byte %d)", e.Offset)
	return e
}

// label shows a name in a path: as it is when it is short and plain, else quoted and cut.
func label(name []byte) string {
	cut := ""
	if len(name) > maxLabel {
		name, cut = name[:maxLabel], "…"
		for len(name) > 0 && !utf8.Valid(name) {
			name = name[:len(name)-1]
		}
	}
	for _, c := range name {
		if !(c == '_' || c == '-' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z') {
			return strconv.QuoteToGraphic(string(name)) + cut
		}
	}
	return string(name) + cut
}
