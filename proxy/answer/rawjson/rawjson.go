// Package rawjson patches JSON objects where they lie: members are replaced, removed and appended as raw bytes, and
// everything else stays as it came. A [Tree] joins values that come in fragments. The objects are valid JSON.
package rawjson

import (
	"encoding/json"
	"iter"
	"unsafe"

	"github.com/tidwall/gjson"
)

// View returns b as a string without a copy; b must not change while the string is in use.
func View(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Bytes returns s as bytes without a copy; they must not be changed.
func Bytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// Quote returns s as a JSON string.
func Quote(s string) string {
	if isPlain(s) {
		return `"` + s + `"`
	}
	q, _ := json.Marshal(s) // a string always encodes
	return string(q)
}

// AppendQuote appends s as a JSON string.
func AppendQuote(dst []byte, s string) []byte {
	if isPlain(s) {
		return append(append(append(dst, '"'), s...), '"')
	}
	return append(dst, Quote(s)...)
}

// isPlain reports whether s needs no escape: letters, digits and "-_." alone, as in ids and names.
func isPlain(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.') {
			return false
		}
	}
	return true
}

// Given reports whether r is there and not null.
func Given(r gjson.Result) bool { return r.Exists() && r.Type != gjson.Null }

// Members sets each of dst to the member of object r with the name at its place, the first one of that name, in one pass: gjson's Get
// passes over the object for each name.
func Members(r gjson.Result, dst []gjson.Result, names ...string) {
	if !r.IsObject() {
		return
	}
	left := len(names)
	r.ForEach(func(k, v gjson.Result) bool {
		for i, name := range names {
			if name == k.Str && !dst[i].Exists() {
				dst[i] = v
				left--
			}
		}
		return left > 0
	})
}

// Elements yields the elements of an array with their index. It reads one at a time: gjson's Array makes a list of all, a hundred bytes
// each. Like Array, it yields any other value that is given as the one element.
func Elements(r gjson.Result) iter.Seq2[int, gjson.Result] {
	return func(yield func(int, gjson.Result) bool) {
		if !r.IsArray() {
			if Given(r) {
				yield(0, r)
			}
			return
		}
		i := 0
		r.ForEach(func(_, e gjson.Result) bool {
			i++
			return yield(i-1, e)
		})
	}
}

// Empty reports whether r has no elements.
func Empty(r gjson.Result) bool {
	for range Elements(r) {
		return false
	}
	return true
}

// String returns r's JSON where it is a string, else the JSON of an empty string.
func String(r gjson.Result) string {
	if r.Type == gjson.String {
		return r.Raw
	}
	return `""`
}

// Edit is a change of one member of an object.
type Edit struct {
	name, raw string
	add       bool
}

// Set gives a member the value raw, and adds it where it is absent.
func Set(name, raw string) Edit { return Edit{name, raw, true} }

// Change gives a member the value raw where the object has it.
func Change(name, raw string) Edit { return Edit{name, raw, false} }

// Remove removes a member.
func Remove(name string) Edit { return Edit{name: name} }

// Edited returns object r with the edits applied: in place where r has the member, at the end where a Set adds it. What is no object it returns as
// it is.
func Edited(r gjson.Result, edits ...Edit) string {
	if !r.IsObject() {
		return r.Raw
	}
	dst := append(make([]byte, 0, len(r.Raw)), '{')
	var done uint64
	r.ForEach(func(k, v gjson.Result) bool {
		raw := v.Raw
		for i, e := range edits {
			if e.name == k.Str {
				raw, done = e.raw, done|1<<i
			}
		}
		if raw != "" {
			dst = AppendMember(dst, 1, k.Raw, raw)
		}
		return true
	})
	for i, e := range edits {
		if e.add && done&(1<<i) == 0 {
			dst = AppendMember(dst, 1, Quote(e.name), e.raw)
		}
	}
	return View(append(dst, '}'))
}

// Member returns member name of r as it stands between other members, with a comma before it; "" where r has none.
func Member(r gjson.Result, name string) string {
	if v := r.Get(name); v.Exists() {
		return `,"` + name + `":` + v.Raw
	}
	return ""
}

// AppendMember appends one member, with a comma before it unless it is the first of the object whose members begin at
// byte first of dst. key is the quoted name.
func AppendMember(dst []byte, first int, key, raw string) []byte {
	if len(dst) > first {
		dst = append(dst, ',')
	}
	dst = append(append(dst, key...), ':')
	return append(dst, raw...)
}

// SkipSpace returns the first byte that is not white space from i on, moving by step. Inside a valid object there is one.
func SkipSpace(s string, i, step int) int {
	for s[i] <= ' ' {
		i += step
	}
	return i
}
