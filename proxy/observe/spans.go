package observe

import (
	"net/http"
	"strconv"
	"strings"

	"reprise/proxy/tracing"
	"reprise/store"
)

// Spans ends the spans of requests.
type Spans struct{}

// Forget does nothing: a span is sent when it has ended, and has no prompt.
func (Spans) Forget(store.Filter) {}

// Ended notes in the span of a request how it was answered, and ends it.
func (Spans) Ended(o *Outcome) {
	span := o.Span
	if !o.Answered || !span.Recording() {
		return
	}
	why := o.Why()
	span.Served(o.Method, o.Route)
	span.Text(tracing.Path, Path(o.Path))
	span.Text(tracing.Scheme, o.Scheme)
	span.Text(tracing.RequestID, o.ID)
	span.Text(tracing.Tenant, o.Tenant)
	span.Text(tracing.CacheResult, o.Result.String())
	span.Text(tracing.CacheReason, why)
	span.Text(tracing.Upstream, o.Upstream)
	if o.Band > 0 {
		span.Number(tracing.SimilarityFrom, int64(o.Band))
	}
	if saved := o.Saved(); saved > 0 {
		span.Number(tracing.TokensSaved, saved)
	}
	if o.Status > 0 { // an answer was begun
		span.Number(tracing.Status, int64(o.Status))
		span.Number(tracing.ResponseSize, o.Bytes)
	}
	switch {
	case o.Result == Gone:
		span.Text(tracing.ErrorType, o.Result.String())
	case o.Status >= http.StatusInternalServerError || o.Result == Refused && o.Status < http.StatusBadRequest: // or cut
		span.Fail(o.failure(why))
	case o.Status >= http.StatusBadRequest: // by HTTP's conventions no fault of the server
		span.Text(tracing.ErrorType, o.failure(why))
	}
	span.End()
}

// failure is the class of an error: the code of one of the proxy's own, or the status of the upstream's.
func (o *Outcome) failure(why string) string {
	switch {
	case o.Status < http.StatusBadRequest:
		return "cut"
	case o.Result == Refused && why != "" && !strings.ContainsAny(why, "=;"):
		return why
	}
	return strconv.Itoa(o.Status)
}
