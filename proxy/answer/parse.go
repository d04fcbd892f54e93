package answer

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer/rawjson"
)

// maxDepth bounds the nesting of an answer's JSON, so that no reader of it can be driven into deep recursion.
const maxDepth = 128

// Parse reads one JSON object; ErrMalformed where b is something else or nested too deep. The result aliases b.
func Parse(b []byte) (gjson.Result, error) {
	if !readable(b) {
		return gjson.Result{}, ErrMalformed
	}
	return gjson.Parse(rawjson.View(b)), nil
}

// readable reports whether b is a JSON object that is not nested too deep.
func readable(b []byte) bool {
	return shallow(b) && gjson.ValidBytes(b) && gjson.Parse(rawjson.View(b)).IsObject()
}

// reported reports whether an object is an error: in the shape of OpenAI, of a Responses stream or of older vLLM.
func reported(r gjson.Result) bool {
	if !strings.Contains(r.Raw, `"error"`) && !strings.Contains(r.Raw, `\u`) { // however the name is spelled
		return false
	}
	var of [3]gjson.Result
	rawjson.Members(r, of[:], "error", "type", "object")
	return isError(of[:])
}

// isError is reported of an object's members error, type and object.
func isError(of []gjson.Result) bool {
	return rawjson.Given(of[0]) || of[1].Str == "error" || of[2].Str == "error"
}

// shallow reports whether brackets outside strings nest at most maxDepth deep.
func shallow(b []byte) bool {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = endOfString(b, i)
		case '{', '[':
			if depth++; depth > maxDepth {
				return false
			}
		case '}', ']':
			depth--
		}
	}
	return true
}

// endOfString returns the place of the quote that ends the string which begins at byte i of b; len(b) where none does.
func endOfString(b []byte, i int) int {
	for from := i + 1; ; {
		n := bytes.IndexByte(b[from:], '"')
		if n < 0 {
			return len(b)
		}
		end, escapes := from+n, 0
		for b[end-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return end
		}
		from = end + 1
	}
}
