package answer

import (
	"encoding/json"
	"unsafe"

	"github.com/tidwall/gjson"
)

// maxDepth bounds the nesting of an answer's JSON, so that no reader of it can be driven into deep recursion.
const maxDepth = 128

// parse reads one JSON object. The result aliases b.
func parse(b []byte) (gjson.Result, error) {
	if !shallow(b) || !gjson.ValidBytes(b) {
		return gjson.Result{}, ErrMalformed
	}
	r := gjson.Parse(text(b))
	if !r.IsObject() {
		return gjson.Result{}, ErrMalformed
	}
	return r, nil
}

// text views b as a string; b must not change while the string is in use.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// shallow reports whether brackets outside strings nest at most maxDepth deep.
func shallow(b []byte) bool {
	depth, inString := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return false
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return true
}

// quote renders s as a JSON string.
func quote(s string) string {
	q, _ := json.Marshal(s) // a string always encodes
	return string(q)
}

// given reports whether r is there and says something.
func given(r gjson.Result) bool { return r.Exists() && r.Type != gjson.Null }

// edit replaces one member of an object by raw JSON, or removes it where raw is empty.
type edit struct{ name, raw string }

// appendEdited appends object r with the edits applied: in place where r has the member, at the end where it has not.
func appendEdited(dst []byte, r gjson.Result, edits ...edit) []byte {
	dst = append(dst, '{')
	first := len(dst)
	var done uint64
	r.ForEach(func(k, v gjson.Result) bool {
		raw := v.Raw
		for i, e := range edits {
			if e.name == k.Str {
				raw, done = e.raw, done|1<<i
			}
		}
		if raw != "" {
			dst = appendMember(dst, first, k.Raw, raw)
		}
		return true
	})
	for i, e := range edits {
		if done&(1<<i) == 0 && e.raw != "" {
			dst = appendMember(dst, first, quote(e.name), e.raw)
		}
	}
	return append(dst, '}')
}

// appendMember appends one member, with a comma before it unless it is the first of the object whose members begin at
// byte first of dst.
func appendMember(dst []byte, first int, key, raw string) []byte {
	if len(dst) > first {
		dst = append(dst, ',')
	}
	dst = append(append(dst, key...), ':')
	return append(dst, raw...)
}
