package upstream

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"reprise/proxy/tracing"
)

// queue waits for a call of the replica, like acquire. span belongs to the request.
func (r *Replica) queue(ctx context.Context, tenant string, span *tracing.Span) error {
	if !span.Recording() {
		return r.calls.acquire(ctx, tenant)
	}
	began := time.Now()
	err := r.calls.acquire(ctx, tenant)
	span.Since(tracing.Queue, began)
	return err
}

// called begins the span of a call for model as a child of the request's span, and puts its trace context into h, the header that is sent.
func (r *Replica) called(request *tracing.Span, method, model string, h http.Header) *tracing.Span {
	span := request.Call(method, h)
	if !span.Recording() {
		return span
	}
	span.Text(tracing.Upstream, r.Name())
	span.Text(tracing.RequestModel, model)
	span.Text(tracing.Scheme, r.base.Scheme)
	span.Text(tracing.ServerAddress, r.base.Hostname())
	port, err := strconv.Atoi(r.base.Port())
	switch {
	case err == nil:
	case r.base.Scheme == "https":
		port = 443
	default:
		port = 80
	}
	span.Number(tracing.ServerPort, int64(port))
	return span
}

// traced notes how a call was answered, and ends its span where it was not.
func traced(span *tracing.Span, resp *http.Response, err error) {
	switch {
	case !span.Recording():
	case err != nil:
		span.Fail(classOf(err))
		span.End()
	default:
		span.Number(tracing.Status, int64(resp.StatusCode))
		if resp.StatusCode >= http.StatusBadRequest {
			span.Fail(strconv.Itoa(resp.StatusCode))
		}
	}
}

// classOf is the class of an error of a call.
func classOf(err error) string {
	var timeout net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, ErrIdle), errors.Is(err, ErrUntaken), errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case errors.Is(err, errUnsent):
		return "unreachable"
	case errors.Is(err, errOfBody):
		return "request_body"
	}
	return "_OTHER"
}
