package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"syscall"

	"reprise/proxy/canon"
	"reprise/proxy/internal/apierror"
	"reprise/proxy/upstream"
)

var errOnlyIfCached = &apierror.Error{Status: http.StatusGatewayTimeout, Type: apierror.TypeCache, Code: "not_cached",
	Message: "No stored answer for this request, and Cache-Control: only-if-cached forbids asking the upstream."}

// errNoMemory refuses work that the memory limit has no room for.
var errNoMemory = &apierror.Error{Status: http.StatusServiceUnavailable, Type: apierror.TypeServer, Code: "overloaded", RetryAfter: 1,
	Message: "The proxy has no memory left for this request (REPRISE_MEMORY_LIMIT); try again in a moment."}

// errNotForwarded is for an operator who is at the wrong listener, or has mistyped a path.
var errNotForwarded = &apierror.Error{Status: http.StatusNotFound, Type: apierror.TypeInvalidRequest, Code: "not_found",
	Message: "This listener has no such path, and does not forward the admin token. The admin API is on REPRISE_ADMIN_LISTEN; here are only POST " + explainPath + " and " + feedbackPath + "."}

// errPostOnly is for one who reads about an endpoint of the proxy's own in a browser: the upstream has no such path.
var errPostOnly = &apierror.Error{Status: http.StatusMethodNotAllowed, Type: apierror.TypeInvalidRequest, Code: "method_not_allowed",
	Message: explainPath + " and " + feedbackPath + " take POST."}

var errBodyBroken = apierror.BadRequest("invalid_body", "The request body could not be read to its end.")

// errCut ends a response that has begun and cannot be completed: the connection is closed, so that the client sees it.
var errCut = errors.New("answer cut")

// errClientGone ends a request whose client has left: no answer is written.
var errClientGone = errors.New("client gone")

// toAPIError returns the status and the text that a client gets for an error. The text of an internal error is only in the
// log.
func toAPIError(err error) *apierror.Error {
	var own *apierror.Error
	var bad *canon.Error
	var tooLarge *http.MaxBytesError
	var crash *upstream.PanicError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &bad):
		return &apierror.Error{Status: bad.Status, Type: apierror.TypeInvalidRequest, Code: bad.Code, Param: bad.Param, Message: bad.Message}
	case errors.As(err, &tooLarge):
		return &apierror.Error{Status: http.StatusRequestEntityTooLarge, Type: apierror.TypeInvalidRequest, Code: "request_too_large",
			Message: "The request body is larger than the " + strconv.FormatInt(tooLarge.Limit, 10) + " bytes allowed."}
	case errors.As(err, &crash):
		return apierror.Internal
	case errors.Is(err, upstream.ErrOverloaded):
		return &apierror.Error{Status: http.StatusServiceUnavailable, Type: apierror.TypeServer, Code: "overloaded", RetryAfter: 1 + rand.IntN(5),
			Message: "Too many requests wait for the upstream (REPRISE_MAX_CONCURRENT); try again in a moment."}
	case errors.Is(err, upstream.ErrClosing):
		return &apierror.Error{Status: http.StatusServiceUnavailable, Type: apierror.TypeUpstream, Code: "shutting_down", RetryAfter: 1,
			Message: "The proxy is shutting down; send the request again."}
	case isTimeout(err):
		return &apierror.Error{Status: http.StatusGatewayTimeout, Type: apierror.TypeUpstream, Code: "upstream_timeout",
			Message: "The upstream did not answer in time."}
	case errors.Is(err, upstream.ErrClosed):
		return &apierror.Error{Status: http.StatusBadGateway, Type: apierror.TypeUpstream, Code: "upstream_closed",
			Message: "The upstream closed the connection before it answered. It may have read the request, so the proxy did not send it again."}
	}
	if why := unreachable(err); why != "" {
		return &apierror.Error{Status: http.StatusBadGateway, Type: apierror.TypeUpstream, Code: "upstream_unreachable",
			Message: "The upstream cannot be reached: " + why + "."}
	}
	return &apierror.Error{Status: http.StatusBadGateway, Type: apierror.TypeUpstream, Code: "upstream_broken",
		Message: "The upstream broke off before its answer had begun; the log of the proxy has the cause."}
}

// unreachable is why no connection with the upstream came about, "" where there was one. It names no address: a client need not know
// where the upstream is.
func unreachable(err error) string {
	var name *net.DNSError
	var op *net.OpError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &name):
		return "its name cannot be resolved"
	case errors.As(err, &certificate):
		return "its certificate is not valid"
	case errors.As(err, &record):
		return "it does not speak TLS"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.EHOSTUNREACH) || errors.Is(err, syscall.ENETUNREACH):
		return "no route to its address"
	case errors.As(err, &op) && op.Op == "dial":
		return "no connection"
	}
	return ""
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, upstream.ErrIdle) || errors.Is(err, upstream.ErrUntaken) || errors.As(err, &ne) && ne.Timeout()
}
