// Package tracing records OpenTelemetry spans: one for each request, and below it one for each step and for each upstream call. Only this package
// and the packages below it import OpenTelemetry; package otlp sends the spans to a collector.
//
// Without a [Tracer], and for a request that is not sampled, there are no spans: a nil [Span] accepts every call, does nothing and allocates
// nothing, so callers need no condition. No span contains a prompt, an answer, a credential or a part of a path that a client may choose.
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
	Provider trace.TracerProvider // receives the spans; it must give a new trace the id that TraceID returns
	// Sample decides whether to sample a request. parent holds the client's trace context, id is the id of the trace.
	Sample func(parent context.Context, id trace.TraceID) bool
	// Propagate continues the trace that a client's traceparent names, here and at the upstream.
	Propagate bool
}

// New returns a tracer for o.
func New(o Options) *Tracer {
	t := &Tracer{tracer: o.Provider.Tracer("reprise"), o: o}
	t.silent, t.given = &Span{Tracer: t, silent: true}, &Span{Tracer: t, silent: true, given: true}
	return t
}

// TraceID returns the id for a trace that begins in ctx: the one by which Request sampled it, else a random one.
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

// NewSpanID returns a random id.
func NewSpanID() (id trace.SpanID) {
	binary.NativeEndian.PutUint64(id[:], rand.Uint64()|1)
	return id
}

// Span is the span of a request or of one of its steps. Every method of a nil Span does nothing. A Span is safe for concurrent use, except
// [Span.About].
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

// Origin holds the ids of the trace and the span in which an answer was made; the zero value means unknown.
type Origin [24]byte

// Options of spans. They are made once, because each would be an allocation.
var (
	server = []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer)}
	client = []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient)}
)

// mostState is the longest tracestate of a client, in bytes, that its spans contain and that goes to the upstream: W3C's recommendation asks for
// no more. A longer one is dropped.
const mostState = 512

// traceContext is W3C's trace context.
var traceContext propagation.TraceContext

// Request begins the span of a request with header h; it returns nil if t is nil. The caller must end the span.
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

// Recording reports whether the span is recorded. If not, callers need not compute anything for it.
func (s *Span) Recording() bool { return s != nil && !s.silent }

// About records what the request asks for. Call it before any step begins.
func (s *Span) About(a Asked) {
	if s.Recording() {
		a.Model = text(a.Model)
		s.about = a
	}
}

// Child begins the span of a step.
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

// Since adds a step that ends now, unless it took less than a millisecond.
func (s *Span) Since(name string, began time.Time) {
	if s.Recording() && time.Since(began) >= time.Millisecond {
		_, c := s.tracer.Start(s.ctx, name, trace.WithTimestamp(began))
		c.End()
	}
}

// Call begins the span of an upstream call and puts its trace context into h, the header of the request to send. If the request is not sampled,
// the client's trace context stays in h unchanged; if the client sent none, h gets a new context that is not sampled, so that the upstream does
// not sample either.
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

// asked adds what the request asks of a model.
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

// Served names the span of a request and records its method and route. Pass "" as route if the route would contain a client's own words.
func (s *Span) Served(method, route string) {
	if s.Recording() {
		s.describe(method, route)
	}
}

// describe names a span by what is asked of a model, or else by the HTTP method, and records both.
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

// Used adds the tokens of an answer. prompt includes cached, which the provider read from its cache, and written, which it wrote there.
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

// Event adds an event at the current time.
func (s *Span) Event(name string) {
	if s.Recording() {
		s.span.AddEvent(name)
	}
}

// Fail records that the step failed, with the class of its error. The text of an error might contain a client's words.
func (s *Span) Fail(class string) {
	if s.Recording() {
		s.Text(ErrorType, class)
		s.span.SetStatus(codes.Error, "")
	}
}

// Link links the span to the span in which the answer was made.
func (s *Span) Link(o Origin) {
	if !s.Recording() || o == (Origin{}) {
		return
	}
	s.span.AddLink(trace.Link{SpanContext: trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID(o[:16]), SpanID: trace.SpanID(o[16:]), TraceFlags: trace.FlagsSampled, Remote: true})})
}

// Origin returns the ids of the span, to be stored with an answer that it makes; zero if the span is not recorded.
func (s *Span) Origin() (o Origin) {
	if s.Recording() {
		sc := s.span.SpanContext()
		trace, span := sc.TraceID(), sc.SpanID()
		copy(o[copy(o[:], trace[:]):], span[:])
	}
	return o
}

// Exemplar returns the labels by which a metric points to the span; nil if the span is not recorded.
func (s *Span) Exemplar() map[string]string {
	if !s.Recording() {
		return nil
	}
	sc := s.span.SpanContext()
	return map[string]string{"trace_id": sc.TraceID().String(), "span_id": sc.SpanID().String()}
}

// End ends the span. Later calls of any method do nothing.
func (s *Span) End() {
	if s.Recording() {
		s.span.End()
	}
}

// mostText is how many bytes of a text are sent.
const mostText = 256

// text returns s in the form that may be sent: a collector would refuse a whole batch for one text that is not valid UTF-8.
func text(s string) string {
	return cut(strings.ToValidUTF8(cut(s), "\uFFFD")) // a replacement is longer than what it replaces
}

// cut returns the first mostText bytes of s, without half a character at the end.
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
