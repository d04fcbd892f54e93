package messages

import (
	"net/http"

	"reprise/proxy/answer/rawjson"
	"reprise/proxy/internal/apierror"
)

// errorBody renders an error in Anthropic's shape, whose types go by the status.
func errorBody(e *apierror.Error) []byte {
	return []byte(`{"type":"error","error":{"type":"` + typeOf(e.Status) + `","message":` + rawjson.Quote(e.Message) + `},"request_id":null}`)
}

func typeOf(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusPaymentRequired:
		return "billing_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case http.StatusGatewayTimeout:
		return "timeout_error"
	case http.StatusServiceUnavailable:
		return "overloaded_error"
	}
	if status < http.StatusInternalServerError {
		return "invalid_request_error"
	}
	return "api_error"
}
