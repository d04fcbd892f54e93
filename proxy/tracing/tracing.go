// Package tracing has the spans of requests, for OpenTelemetry: one for each request, and below it one for each step, and for each call of the
// upstream. Its packages are the only ones that import OpenTelemetry; package otlp below it sends the spans to a collector.
//
// Without a [Tracer], and for a request that is not sampled, there are no spans: a nil [Span] takes every call and does nothing, without an
// allocation, so that no caller has a condition. No span ever has a prompt, an answer, a credential or a part of a path that a client may
// choose.
package tracing

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Tracer begins the spans of requests. A nil Tracer begins none. It is safe for concurrent use.
type Tracer struct {
	tracer trace.Tracer
	o      Options

	// The spans of all requests that are not sampled, with and without a trace context of the client.
	silent, given *Span
}

// Options configures a Tracer.
type Options struct {
	Provider trace.TracerProvider // where spans go; those of requests that Sample takes must have the id that TraceID returns
	// Sample decides whether a request is sampled, by the trace context of the client in parent and the id of its trace.
	Sample func(parent context.Context, id trace.TraceID) bool
	// Propagate: the trace that a client's traceparent names goes on, here and at the upstream.
	Propagate bool
}

// New returns a tracer for o.
func New(o Options) *Tracer {
	t := &Tracer{tracer: o.Provider.Tracer("reprise"), o: o}
	t.silent, t.given = &Span{Tracer: t, silent: true}, &Span{Tracer: t, silent: true, given: true}
	return t
}

// TraceID is the id of the trace that begins in a context.
func TraceID(ctx context.Context) trace.TraceID {
	id, ok := ctx.Value(idKey{}).(trace.TraceID)
	if !ok {
		id = newTraceID()
	}
	return id
}

type idKey struct{}

func newTraceID() (id trace.TraceID) {
	binary.NativeEndian.PutUint64(id[:], rand.Uint64()|1) // an id of zeros is none
	binary.NativeEndian.PutUint64(id[8:], rand.Uint64())
	return id
}

// NewSpanID is a random id.
func NewSpanID() (id trace.SpanID) {
	binary.NativeEndian.PutUint64(id[:], rand.Uint64()|1)
	return id
}

// Span is a request or one of its steps. A nil Span is none. It is safe for concurrent use, except [Span.About].
type Span struct {
	*Tracer
	span   trace.Span
	ctx    context.Context // with span
	silent bool            // it is of a request that is not sampled, and has neither
	given  bool            // with silent: the client has sent a trace context, which stays as it is
	about  Asked
}

// Asked is what a request asks of a model.
type Asked struct {
	Operation string // as the conventions for generative AI name it; "": it is no request to a model
	Provider  string // whose API it is
	Model     string
	Stream    bool
}

// Origin is the trace and the span that made an answer; zero: it is not known.
type Origin [24]byte

// Options of spans, made once: each would be an allocation.
var (
	server = []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer)}
	client = []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient)}
)

// mostState is how long a client's tracestate may be, in bytes, that is in every span of its request and goes on with it: W3C's recommendation asks for
// no more. A longer one is dropped.
const mostState = 512

// traceContext is W3C's trace context.
var traceContext propagation.TraceContext

// Request begins the span of a request with this header; nil without a Tracer. The caller must end it.
func (t *Tracer) Request(h http.Header) *Span {
	if t == nil {
		return nil
	}
	ctx, id := context.Background(), trace.TraceID{}
	if t.o.Propagate && len(h["Traceparent"]) == 1 {
		ctx = traceContext.Extract(ctx, carrier(h))
		parent := trace.SpanContextFromContext(ctx)
		if id = parent.TraceID(); len(strings.Join(h["Tracestate"], ",")) > mostState {
			ctx = trace.ContextWithRemoteSpanContext(ctx, parent.WithTraceState(trace.TraceState{}))
		}
	}
	given := id.IsValid()
	if !given {
		id = newTraceID()
	}
	switch sampled := t.o.Sample(ctx, id); {
	case !sampled && given:
		return t.given
	case !sampled:
		return t.silent
	case !given:
		ctx = context.WithValue(ctx, idKey{}, id)
	}
	s := &Span{Tracer: t}
	s.ctx, s.span = t.tracer.Start(ctx, "HTTP", server...)
	return s
}

// Recording reports whether the span is kept: only then is anything to be computed for it.
func (s *Span) Recording() bool { return s != nil && !s.silent }

// About notes what the request asks for, before any span of a step begins.
func (s *Span) About(a Asked) {
	if s.Recording() {
		a.Model = text(a.Model)
		s.about = a
	}
}

// Child begins a step.
func (s *Span) Child(name string) *Span {
	if !s.Recording() {
		return nil
	}
	return s.begin(name, nil)
}

func (s *Span) begin(name string, options []trace.SpanStartOption) *Span {
	c := &Span{Tracer: s.Tracer}
	c.ctx, c.span = s.tracer.Start(s.ctx, name, options...)
	return c
}

// Since adds a step that ends now, if it has taken so long that it is worth a span.
func (s *Span) Since(name string, began time.Time) {
	if s.Recording() && time.Since(began) >= time.Millisecond {
		_, c := s.tracer.Start(s.ctx, name, trace.WithTimestamp(began))
		c.End()
	}
}

// Call begins a call of the upstream with a method, and puts its trace context into h, the header of the request that is sent. The trace context of a client whose
// request is not sampled stays there as it is; one that has sent none gets the present one, so that the upstream does not sample either.
func (s *Span) Call(method string, h http.Header) *Span {
	switch {
	case s == nil:
		return nil
	case !s.silent:
		c := s.begin("HTTP", client)
		c.about = s.about
		c.describe(method, "")
		c.passOn(c.ctx, h)
		return c
	case !s.given:
		s.passOn(trace.ContextWithSpanContext(context.Background(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: newTraceID(), SpanID: NewSpanID()})), h)
	}
	return nil
}

// passOn puts the trace context of ctx into h.
func (t *Tracer) passOn(ctx context.Context, h http.Header) {
	if t.o.Propagate {
		delete(h, "Tracestate")
		traceContext.Inject(ctx, carrier(h))
	}
}

// carrier is a header in which the fields of a trace context are found without a copy of their names.
type carrier http.Header

func (c carrier) Get(key string) string { return strings.Join(c[canonical(key)], ",") }
func (c carrier) Set(key, value string) { c[canonical(key)] = []string{value} }
func (c carrier) Keys() []string        { return nil }

func canonical(key string) string {
	switch key {
	case "traceparent":
		return "Traceparent"
	case "tracestate":
		return "Tracestate"
	}
	return http.CanonicalHeaderKey(key)
}

// named is the name of a span for an operation.
func named(operation, of string) string {
	if of == "" {
		return operation
	}
	return operation + " " + of
}

// asked adds what is asked of a model.
func (s *Span) asked(a Asked) {
	if a.Operation == "" {
		return
	}
	s.Text(Operation, a.Operation)
	s.Text(Provider, a.Provider)
	s.Text(RequestModel, a.Model)
	if a.Stream {
		s.span.SetAttributes(attribute.Bool(RequestStream, true))
	}
}

// Served names the span of a request, and notes its method and its route, which is "" where that would be a client's own words.
func (s *Span) Served(method, route string) {
	if s.Recording() {
		s.describe(method, route)
	}
}

// describe names a span by what is asked of a model or else by HTTP's method, and notes both.
func (s *Span) describe(method, route string) {
	if !methods[method] {
		method = "_OTHER"
	}
	s.Text(Method, method)
	s.Text(Route, route)
	s.asked(s.about)
	switch {
	case s.about.Operation != "":
		s.span.SetName(named(s.about.Operation, s.about.Model))
	case method == "_OTHER":
		s.span.SetName(named("HTTP", route))
	default:
		s.span.SetName(named(method, route))
	}
}

// Text adds an attribute, unless it is empty. A long one is cut.
func (s *Span) Text(key, value string) {
	if s.Recording() && value != "" {
		s.span.SetAttributes(attribute.String(key, text(value)))
	}
}

// Number adds an attribute.
func (s *Span) Number(key string, value int64) {
	if s.Recording() {
		s.span.SetAttributes(attribute.Int64(key, value))
	}
}

// Used adds the tokens that an answer took. The prompt's contain those that came from the cache of the provider and those that were written to it.
func (s *Span) Used(prompt, cached, written, output int) {
	if !s.Recording() {
		return
	}
	s.Number(InputTokens, int64(prompt))
	s.Number(OutputTokens, int64(output))
	if cached > 0 {
		s.Number(CachedTokens, int64(cached))
	}
	if written > 0 {
		s.Number(WrittenTokens, int64(written))
	}
}

// Event adds an event of this moment.
func (s *Span) Event(name string) {
	if s.Recording() {
		s.span.AddEvent(name)
	}
}

// Fail notes that the step has failed, by the class of its error; the words of an error might be those of a client.
func (s *Span) Fail(class string) {
	if s.Recording() {
		s.Text(ErrorType, class)
		s.span.SetStatus(codes.Error, "")
	}
}

// Link connects the span with the one that made the answer.
func (s *Span) Link(o Origin) {
	if !s.Recording() || o == (Origin{}) {
		return
	}
	s.span.AddLink(trace.Link{SpanContext: trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID(o[:16]), SpanID: trace.SpanID(o[16:]), TraceFlags: trace.FlagsSampled, Remote: true})})
}

// Origin is what an answer has of the span that made it, zero of one that is not kept.
func (s *Span) Origin() (o Origin) {
	if s.Recording() {
		sc := s.span.SpanContext()
		trace, span := sc.TraceID(), sc.SpanID()
		copy(o[copy(o[:], trace[:]):], span[:])
	}
	return o
}

// Exemplar is the labels by which a metric points to the span, nil where that is not kept.
func (s *Span) Exemplar() map[string]string {
	if !s.Recording() {
		return nil
	}
	sc := s.span.SpanContext()
	return map[string]string{"trace_id": sc.TraceID().String(), "span_id": sc.SpanID().String()}
}

// End ends the span. Nothing can be added any more; a second call does nothing.
func (s *Span) End() {
	if s.Recording() {
		s.span.End()
	}
}

// mostText is how many bytes of a text are sent.
const mostText = 256

// text is a text as it may be sent: a single one that is not valid UTF-8 would cost all spans that are sent with it.
func text(s string) string {
	return cut(strings.ToValidUTF8(cut(s), "\uFFFD")) // a replacement is longer than what it replaces
}

// cut is the first bytes of a text, without half a character at their end.
func cut(s string) string {
	if len(s) <= mostText {
		return s
	}
	n := mostText
	for n > mostText-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
