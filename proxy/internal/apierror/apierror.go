// Package apierror is an error that a client sees, and OpenAI's error object: the shape of it in the admin API and in most
// cached APIs.
package apierror

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// Types of errors.
const (
	TypeInvalidRequest = "invalid_request_error"
	TypeUpstream       = "upstream_error"
	TypeInternal       = "internal_error"
	TypeCache          = "cache_error"
	TypeServer         = "server_error" // the proxy has too much to do
)

// Error is an error that a client sees.
type Error struct {
	Status  int
	Type    string
	Code    string
	Param   string // "": none
	Message string

	RetryAfter int // seconds after which the client may try again; 0: not said
}

func (e *Error) Error() string { return e.Message }

// BadRequest returns an error of status 400.
func BadRequest(code, message string) *Error {
	return &Error{Status: http.StatusBadRequest, Type: TypeInvalidRequest, Code: code, Message: message}
}

// Internal is what a client sees of a fault of the proxy.
var Internal = &Error{Status: http.StatusInternalServerError, Type: TypeInternal, Code: "internal_error",
	Message: "The proxy met an internal error; it is in its log."}

// Write answers with e in OpenAI's shape.
func Write(w http.ResponseWriter, e *Error) { WriteBody(w, e, Body(e)) }

// Body renders e in OpenAI's shape.
func Body(e *Error) []byte {
	type inner struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	}
	orNull := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	body, err := json.Marshal(map[string]inner{"error": {e.Message, e.Type, orNull(e.Param), orNull(e.Code)}})
	if err != nil { // unreachable: strings always marshal
		return []byte(`{"error":{"message":"internal error","type":"internal_error","param":null,"code":null}}`)
	}
	return body
}

// WriteBody answers with the status of e and a body in the shape of an API.
func WriteBody(w http.ResponseWriter, e *Error, body []byte) {
	h := w.Header()
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(e.Status)
	w.Write(body)
}

// Quote quotes a client's own text for a message, cut to a length that cannot flood a log.
func Quote(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return `"` + strings.Map(func(r rune) rune {
		if r < ' ' || r == '"' || r == 0x7f {
			return '?'
		}
		return r
	}, s) + `"`
}

// NotJSON returns the message for a body whose Content-Type is not JSON. what is the request, such as "a purge".
func NotJSON(contentType, what string) string {
	has := "The Content-Type is " + Quote(contentType)
	if contentType == "" {
		has = "The request has no Content-Type"
	}
	return has + "; " + what + " takes application/json (curl: -H 'Content-Type: application/json')."
}
