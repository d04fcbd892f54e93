package proxy

import (
	"context"
	"errors"
	"net/http"

	"reprise/proxy/internal/apierror"
	"reprise/proxy/internal/clientio"
	"reprise/proxy/tracing"
	"reprise/proxy/upstream"
	"reprise/proxy/upstream/dialect"
	"reprise/proxy/upstream/usage"
)

// passThrough forwards the request, and its answer as it arrives. It serves every path that is not cached, and the cached ones when
// the cache takes no part, for a reason. body replaces that of the request, if it has been read.
func (x *work) passThrough(body []byte, reason string) error {
	s, in := x.s, x.r.http
	u := s.opts.APIs.OriginalURL(in.URL)
	if err := s.live.Load().gate.Path(in.Method, u); err != nil { // of the path as it is sent
		return err
	}
	if u != in.URL {
		in = in.WithContext(in.Context())
		in.URL = u
	}
	if !s.budget.Begin() {
		return errNoMemory
	}
	defer s.budget.End()
	of := s.opts.APIs.Naming(in.URL.Path) // the model decides where the request goes; or the body may have ids of replays
	if body == nil && (of != nil || s.upstream.BodyMatters()) && isPlainJSON(in, s.live.Load().maxBody) {
		mem, err := s.lease(in, 0)
		if err != nil {
			return err
		}
		defer mem.Drop()
		if body, err = readBody(x.w, in, mem, in.ContentLength); err != nil {
			return err
		}
		if of != nil {
			body = of.OriginalBody(body)
		}
	}
	tenant := s.ids.tenant(in.Header)
	p := upstream.Request{Original: in, Tenant: s.account(in, tenant), Body: body, Span: x.r.span}
	if in.Method == http.MethodDelete {
		s.deleted(context.WithoutCancel(in.Context()), tenant, in.URL.EscapedPath())
	}
	if x.v.seen.Tenant = tenant; x.r.Request != nil {
		p.Model, p.Chain = x.r.Model, s.hints.chain(&x.r)
		x.v.seen.Model = x.r.Model
		defer s.hints.drop(p.Chain)
	}
	out := &statusWriter{ResponseWriter: x.w, visit: x.v, several: several(&s.opts), status: cacheStatus{result: Bypass, fwd: "bypass", detail: []string{reason}}}
	start := s.opts.Now()
	defer func() {
		x.v.seen.Waited = s.opts.Now().Sub(start)
		out.spent()
		out.span.End()
	}()
	return s.passed(in, s.upstream.PassThrough(out, p, out))
}

// passed is the error of a request that was forwarded, in the proxy's own words; nil where there was none.
func (s *Server) passed(r *http.Request, err error) error {
	switch {
	case err == nil:
		return nil
	case clientio.TooSlow(r):
		return clientio.ErrTooSlow
	case r.Context().Err() != nil:
		return errClientGone
	case clientio.Broken(r):
		return errBodyBroken
	case errors.Is(err, upstream.ErrOverloaded), errors.As(err, new(*http.MaxBytesError)):
		return err
	case errors.Is(err, dialect.ErrEncoding):
		return apierror.BadRequest("invalid_encoding", "The request body is not in UTF-8.")
	}
	s.faults.report(r.Context(), "upstream", err)
	return err
}

// isPlainJSON reports whether the body of r can be read before it is sent. One that is compressed, or larger than one of a cached endpoint
// may be, or of no known length, goes to an upstream of any model.
func isPlainJSON(r *http.Request, most int64) bool {
	return r.Method == http.MethodPost && 0 < r.ContentLength && r.ContentLength <= most &&
		r.Header.Get("Expect") == "" && isJSON(r.Header.Get("Content-Type")) && !encoded(r.Header)
}

// statusWriter adds the cache's status to the upstream's header just before that is sent.
type statusWriter struct {
	http.ResponseWriter
	visit   *visit
	several bool // there are several upstreams
	status  cacheStatus
	begun   bool          // the header is sent
	written bool          // and a byte of the body
	sent    int           // its status
	meter   *usage.Meter  // of an answer of a cached endpoint; nil: its tokens are not counted
	span    *tracing.Span // of the call
}

// Begins notes which upstream has answered.
func (w *statusWriter) Begins(reply *upstream.Reply) {
	w.span = reply.Span
	if w.visit.seen.Upstream = reply.Replica.Name(); w.several {
		w.status.answeredBy(reply.Replica, reply.Foreign)
	}
}

func (w *statusWriter) WriteHeader(status int) {
	if !w.begun && status >= 200 {
		w.begun, w.sent = true, status
		h := w.Header()
		if w.visit.api != nil && !encoded(h) {
			w.meter = usage.NewMeter()
		}
		if ids := h[requestID]; len(ids) > 1 { // the upstream's own follow that of the request
			w.visit.answeredAs(h, ids[1:])
		}
		w.status.write(h, noLength)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(p []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	if !w.written && len(p) > 0 {
		w.written = true
		w.span.Event(tracing.FirstByte)
	}
	if w.meter != nil {
		w.meter.Write(p)
	}
	return w.ResponseWriter.Write(p)
}

// spent notes the tokens of an answer of a cached endpoint that has passed. A packed one is not read.
func (w *statusWriter) spent() {
	switch {
	case w.meter != nil:
		w.visit.seen.Call = called(w.visit.seen.Model, w.sent, w.meter, w.span)
	case w.visit.api != nil:
		w.visit.seen.Call.Status = w.sent
	}
}

func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
