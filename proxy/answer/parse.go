package answer

import (
	"github.com/tidwall/gjson"

	"reprise/proxy/answer/rawjson"
)

// maxDepth bounds the nesting of an answer's JSON, so that no reader of it can be driven into deep recursion.
const maxDepth = 128

// Parse reads one JSON object; ErrMalformed where b is something else or nested too deep. The result aliases b.
func Parse(b []byte) (gjson.Result, error) {
	if !shallow(b) || !gjson.ValidBytes(b) {
		return gjson.Result{}, ErrMalformed
	}
	r := gjson.Parse(rawjson.View(b))
	if !r.IsObject() {
		return gjson.Result{}, ErrMalformed
	}
	return r, nil
}

// ParseEvent reads the object that an event carries; ErrReported where it is an error.
func ParseEvent(ev Event) (gjson.Result, error) {
	if ev.Name == "error" {
		return gjson.Result{}, ErrReported
	}
	r, err := Parse(ev.Data)
	if err == nil && reported(r) {
		err = ErrReported
	}
	return r, err
}

// reported reports whether an object is an error: in OpenAI's shape, in that of a Responses stream or of older vLLM.
func reported(r gjson.Result) bool {
	return rawjson.Given(r.Get("error")) || r.Get("type").Str == "error" || r.Get("object").Str == "error"
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
