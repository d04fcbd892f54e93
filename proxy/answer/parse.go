package answer

import (
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
