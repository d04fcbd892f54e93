package tracing_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"reprise/proxy/tracing"
)

// use does all that can be done with a span.
func use(t *tracing.Tracer, h http.Header, began time.Time) {
	s := t.Request(h)
	s.About(tracing.Asked{Operation: "chat", Model: "m"})
	child := s.Child(tracing.Exact)
	call := child.Call("POST", h)
	call.Used(1, 2, 3, 4)
	call.Event(tracing.FirstByte)
	call.Fail("500")
	call.End()
	child.End()
	s.Since(tracing.Queue, began)
	s.Text(tracing.CacheResult, "miss")
	s.Number(tracing.Status, 200)
	s.Link(s.Origin())
	s.Served("GET", "")
	if s.Recording() || s.Exemplar() != nil {
		panic("off")
	}
	s.End()
}

// TestOffAllocatesNothing: without a tracer, and below a request that is not sampled, nothing is allocated, and no header is changed.
func TestOffAllocatesNothing(t *testing.T) {
	h, began := http.Header{"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}, time.Now()
	if n := testing.AllocsPerRun(100, func() { use(nil, h, began) }); n != 0 {
		t.Errorf("%v allocations without a tracer", n)
	}
	tracer := tracing.New(tracing.Options{Provider: sdktrace.NewTracerProvider(), Sample: func(context.Context, trace.TraceID) bool { return false }, Propagate: true})
	request := testing.AllocsPerRun(100, func() { tracer.Request(h).End() }) // the client's trace context is read
	if n := testing.AllocsPerRun(100, func() { use(tracer, h, began) }); n != request {
		t.Errorf("%v allocations of which %v are for the request", n, request)
	}
	if len(h) != 1 || len(h["Traceparent"][0]) != 55 {
		t.Errorf("the header is changed: %v", h)
	}
	if n := testing.AllocsPerRun(100, func() { tracer.Request(nil).Child(tracing.Read).End() }); n != 0 {
		t.Errorf("%v allocations for a request without a trace context", n)
	}
}

// recording is a tracer whose spans are all kept.
func recording(got *recorded) *tracing.Tracer {
	return tracing.New(tracing.Options{Provider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(got)), Sample: func(context.Context, trace.TraceID) bool { return true }, Propagate: true})
}

// recorded keeps the spans that have ended.
type recorded struct{ spans []sdktrace.ReadOnlySpan }

func (r *recorded) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	r.spans = append(r.spans, spans...)
	return nil
}
func (r *recorded) Shutdown(context.Context) error { return nil }

// TestTextsOfClients: a text that is long or no UTF-8 neither fills the collector nor costs the spans that are sent with it, and a method that
// HTTP does not have is no name.
func TestTextsOfClients(t *testing.T) {
	var got recorded
	tracer := recording(&got)
	s := tracer.Request(http.Header{})
	s.About(tracing.Asked{Operation: "chat", Model: "m\xff" + strings.Repeat("é", 300)})
	s.Served("HACK", "")
	s.End()
	s.End()
	other := tracer.Request(http.Header{})
	other.Served("HACK", "/v1/models")
	other.End()
	name := "chat m\uFFFD" + strings.Repeat("é", 126)
	if len(got.spans) != 2 || got.spans[0].Name() != name || got.spans[1].Name() != "HTTP /v1/models" {
		t.Fatalf("%d spans, %q", len(got.spans), got.spans[0].Name())
	}
	for _, a := range got.spans[0].Attributes() {
		if a.Key == tracing.Method && a.Value.AsString() != "_OTHER" || a.Key == tracing.RequestModel && a.Value.AsString() != name[5:] {
			t.Error(a)
		}
	}
}

// TestLongState: a tracestate that is longer than what W3C asks for is in no span and goes on to no upstream.
func TestLongState(t *testing.T) {
	for _, size := range []int{100, 600} {
		var got recorded
		h := http.Header{"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}, "Tracestate": {"a=" + strings.Repeat("x", 98), "b=" + strings.Repeat("x", size-98)}}
		s, to := recording(&got).Request(h), h.Clone()
		call := s.Call("POST", to)
		call.End()
		s.End()
		for _, one := range got.spans {
			if n := len(one.SpanContext().TraceState().String()); one.SpanContext().TraceID().String() != "0af7651916cd43dd8448eb211c80319c" || n > 512 || (n > 0) != (size == 100) {
				t.Errorf("a state of %d bytes: %d of them in a span of %s", size, n, one.SpanContext().TraceID())
			}
		}
		if passed := strings.Join(to["Tracestate"], ","); len(to["Traceparent"]) != 1 || len(passed) > 512 || (passed != "") != (size == 100) {
			t.Errorf("the upstream gets %d bytes of %d", len(passed), size)
		}
	}
}

// TestOrigin: the origin of an answer is the span that made it, and a link leads there.
func TestOrigin(t *testing.T) {
	var got recorded
	tracer := recording(&got)
	made := tracer.Request(http.Header{})
	made.End()
	hit := tracer.Request(http.Header{})
	hit.Link(made.Origin())
	hit.Link(tracing.Origin{})
	hit.End()
	links, of := got.spans[1].Links(), got.spans[0].SpanContext()
	if len(links) != 1 || links[0].SpanContext.TraceID() != of.TraceID() || links[0].SpanContext.SpanID() != of.SpanID() {
		t.Errorf("%v", links)
	}
	if e := made.Exemplar(); e["trace_id"] != of.TraceID().String() || e["span_id"] != of.SpanID().String() {
		t.Errorf("%v", e)
	}
}

// BenchmarkRequest is what all calls for a request cost where there are no traces (off), and where it is not sampled.
func BenchmarkRequest(b *testing.B) {
	b.Run("off", func(b *testing.B) {
		h := http.Header{}
		b.ReportAllocs()
		for b.Loop() {
			use(nil, h, time.Time{})
		}
	})
	for name, h := range map[string]http.Header{"new": {}, "continued": {"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"}}} {
		b.Run(name, func(b *testing.B) {
			sampler := sdktrace.ParentBased(sdktrace.TraceIDRatioBased(0.01))
			tracer := tracing.New(tracing.Options{Provider: sdktrace.NewTracerProvider(), Sample: func(parent context.Context, id trace.TraceID) bool {
				id[8] |= 0x80 // not sampled
				return sampler.ShouldSample(sdktrace.SamplingParameters{ParentContext: parent, TraceID: id}).Decision == sdktrace.RecordAndSample
			}, Propagate: true})
			b.ReportAllocs()
			for b.Loop() {
				use(tracer, h, time.Time{})
			}
		})
	}
}
