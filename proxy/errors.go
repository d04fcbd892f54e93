package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"

	"reprise/proxy/canon"
	"reprise/proxy/upstream"
)

// apiError is an error that a client sees, in OpenAI's shape.
type apiError struct {
	Status  int
	Type    string // invalid_request_error, upstream_error, internal_error
	Code    string
	Param   string
	Message string
}

func (e *apiError) Error() string { return e.Message }

func badRequest(code, message string) *apiError {
	return &apiError{Status: http.StatusBadRequest, Type: "invalid_request_error", Code: code, Message: message}
}

var errOnlyIfCached = &apiError{Status: http.StatusGatewayTimeout, Type: "cache_error", Code: "not_cached",
	Message: "No stored answer for this request, and Cache-Control: only-if-cached forbids asking the upstream."}

var errBodyStalled = &apiError{Status: http.StatusRequestTimeout, Type: "invalid_request_error", Code: "request_timeout",
	Message: "The request body stopped coming."}

// errCut ends a response that has begun and cannot be completed: the connection is closed, so that the client sees it.
var errCut = errors.New("answer cut")

// errClientGone ends a request whose client has left: nobody is there to be told.
var errClientGone = errors.New("client gone")

// toAPIError gives every error of the pipeline the status and the words that a client gets. What an internal error says
// stays in the log.
func toAPIError(err error) *apiError {
	var api *apiError
	var bad *canon.Error
	var tooLarge *http.MaxBytesError
	var crash *upstream.PanicError
	switch {
	case errors.As(err, &api):
		return api
	case errors.As(err, &bad):
		return &apiError{Status: bad.Status, Type: "invalid_request_error", Code: bad.Code, Param: bad.Param, Message: bad.Message}
	case errors.As(err, &tooLarge):
		return &apiError{Status: http.StatusRequestEntityTooLarge, Type: "invalid_request_error", Code: "request_too_large",
			Message: "The request body is larger than the " + strconv.FormatInt(tooLarge.Limit, 10) + " bytes allowed (REPRISE_MAX_BODY)."}
	case errors.As(err, &crash):
		return &apiError{Status: http.StatusInternalServerError, Type: "internal_error", Code: "internal_error",
			Message: "The proxy met an internal error; it is in its log."}
	case isTimeout(err):
		return &apiError{Status: http.StatusGatewayTimeout, Type: "upstream_error", Code: "upstream_timeout",
			Message: "The upstream did not answer in time."}
	default:
		return &apiError{Status: http.StatusBadGateway, Type: "upstream_error", Code: "upstream_unreachable",
			Message: "The upstream could not be reached or broke off its answer."}
	}
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, upstream.ErrIdle) || errors.As(err, &ne) && ne.Timeout()
}

// writeError answers with e.
func writeError(w http.ResponseWriter, e *apiError) {
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
		body = []byte(`{"error":{"message":"internal error","type":"internal_error","param":null,"code":null}}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(e.Status)
	w.Write(body)
}
