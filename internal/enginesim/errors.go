package enginesim

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

var (
	errGone = errors.New("client left")
	errCut  = errors.New("cut the connection on demand")

	// errAnswered ends a handler whose request a fault has answered.
	errAnswered = errors.New("answered by a fault")

	// errInStream makes the writer of a stream report an error under status 200 and end.
	errInStream = errors.New("fail inside the stream on demand")
)

// apiError is the answer to a bad request, in the shape that OpenAI's clients read.
type apiError struct {
	Status  int    `json:"-"`
	Message string `json:"message"`
	Type    string `json:"type"`
	Param   any    `json:"param"`
	Code    any    `json:"code"`

	own string // the whole body, in the words of another upstream; "": none
}

func (e *apiError) Error() string { return fmt.Sprintf("%d: %s", e.Status, e.Message) }

// badRequest is the error of a bad parameter; an empty param or code is null.
func badRequest(param, code, format string, args ...any) *apiError {
	return &apiError{Status: http.StatusBadRequest, Message: fmt.Sprintf(format, args...), Type: "invalid_request_error", Param: nullable(param), Code: nullable(code)}
}

func missing(param string) *apiError {
	return badRequest(param, "missing_required_parameter", "Missing required parameter: '%s'.", param)
}

func notFound(code, format string, args ...any) *apiError {
	return &apiError{Status: http.StatusNotFound, Message: fmt.Sprintf(format, args...), Type: "invalid_request_error", Code: nullable(code)}
}

// fits returns the error of a prompt that is longer than the context of the model.
func (e *Engine) fits(j *job) error {
	if e.o.Context == 0 || len(j.prompt) <= e.o.Context {
		return nil
	}
	return badRequest("messages", "context_length_exceeded", "This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. "+
		"Please reduce the length of the messages.", e.o.Context, len(j.prompt))
}

func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// body is the JSON of the error.
func (e *apiError) body() []byte {
	if e.own != "" {
		return []byte(e.own)
	}
	b, _ := json.Marshal(map[string]*apiError{"error": e}) // strings and nulls cannot fail
	return b
}

// statusOverloaded is Anthropic's status where it has too much to do.
const statusOverloaded = 529

// anthropicTypes are the types of errors of Anthropic's API by their status.
var anthropicTypes = map[int]string{http.StatusUnauthorized: "authentication_error", http.StatusForbidden: "permission_error",
	http.StatusNotFound: "not_found_error", http.StatusRequestEntityTooLarge: "request_too_large", http.StatusTooManyRequests: "rate_limit_error",
	statusOverloaded: "overloaded_error"}

// anthropicBody is the JSON of an error in Anthropic's shape.
func anthropicBody(e *apiError, id string) []byte {
	if e.own != "" {
		return []byte(e.own)
	}
	kind, ok := anthropicTypes[e.Status]
	switch {
	case !ok && e.Status < http.StatusInternalServerError:
		kind = "invalid_request_error"
	case !ok:
		kind = "api_error"
	}
	b, _ := json.Marshal(map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": e.Message}, "request_id": nullable(id)})
	return b // strings and nulls cannot fail
}
