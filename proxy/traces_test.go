package proxy

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/proxy/enginesim"
	"reprise/proxy/tracing/otlp"
	"reprise/proxy/tracing/tracetest"
)

// traced is a collector of the spans of a rig.
type traced struct {
	*tracetest.Collector
	exporter *otlp.Exporter
	seen     int // spans that of has returned
}

// traces gives a rig spans, which go to a collector. env are more variables of OpenTelemetry.
func traces(t testing.TB, env ...string) (adjust func(*Options), c *traced) {
	t.Helper()
	c = &traced{Collector: tracetest.New(t)}
	for _, kv := range append([]string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.URL}, env...) {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
	settings, warnings := otlp.Read(os.Environ())
	if len(warnings) > 0 {
		t.Fatalf("%q", warnings)
	}
	c.exporter = otlp.Start(settings, "test", func(err error) { t.Error(err) })
	t.Cleanup(func() { _ = c.exporter.Close(time.Minute) })
	return func(o *Options) { o.Tracer = c.exporter.Tracer() }, c
}

// of waits until a request more has ended, and returns the spans that have come since the last call, that of the request first and the others
// in the order in which they began.
func (c *traced) of(t testing.TB) []*tracetest.Span {
	t.Helper()
	var all []*tracetest.Span
	isServer := func(s *tracetest.Span) bool { return s.Kind == "server" }
	eventually(t, "a request", func() bool {
		if err := c.exporter.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		all = c.Spans()
		return slices.ContainsFunc(all[c.seen:], isServer)
	})
	spans := slices.Clone(all[c.seen:])
	c.seen = len(all)
	slices.SortStableFunc(spans, func(a, b *tracetest.Span) int {
		switch {
		case isServer(a) != isServer(b) && isServer(a):
			return -1
		case isServer(a) != isServer(b):
			return 1
		}
		return int(int64(a.Start) - int64(b.Start))
	})
	return spans
}

// TestSpanOfRequest: every way in which a request can end has one span, with what happened and nothing that a client said.
func TestSpanOfRequest(t *testing.T) {
	traces, c := traces(t)
	r := newRig(t, traces)
	secret := "a-secret-of-the-client"
	question := "What is the capital of France? " + secret
	const parent, remote = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "b7ad6b7169203331"
	for _, tc := range []struct {
		path, body string
		header     []string
		want       string // name, a bar, and attributes as key=value
	}{
		{"chat/completions", chat(question), nil, "chat gpt-4o|reprise.cache.result=miss reprise.cache.reason=new http.response.status_code=200 gen_ai.operation.name=chat " +
			"gen_ai.provider.name=openai gen_ai.request.model=gpt-4o http.request.method=POST http.route=/v1/chat/completions url.path=/v1/chat/completions error.type="},
		{"chat/completions", chat(question), []string{parent}, "chat gpt-4o|reprise.cache.result=exact reprise.cache.reason= gen_ai.request.stream= gen_ai.usage.input_tokens="},
		{"chat/completions", chat("What's the capital of France? " + secret), nil, "chat gpt-4o|reprise.cache.result=semantic reprise.cache.reason=semantic;form;topic=1"},
		{"chat/completions", chat(question, `"stream":true`), nil, "chat gpt-4o|reprise.cache.result=exact gen_ai.request.stream=true"},
		{"chat/completions", chat(question), []string{"X-Reprise-Mode: off"}, "POST /v1/chat/completions|reprise.cache.result=bypass reprise.cache.reason=directive gen_ai.request.model="},
		{"chat/completions", chat(question + "?"), []string{"Cache-Control: only-if-cached"}, "chat gpt-4o!|reprise.cache.result=error http.response.status_code=504 error.type=not_cached"},
		{"chat/completions", `{"model":"` + secret, nil, "POST /v1/chat/completions|reprise.cache.result=error http.response.status_code=400 error.type=invalid_json"},
		{"chat/completions", chat("Who wrote Faust?"), []string{enginesim.FaultHeader + ": status=429"}, "chat gpt-4o|reprise.cache.result=miss http.response.status_code=429 error.type=429"},
		{"chat/completions", chat("Who wrote Nathan?"), []string{enginesim.FaultHeader + ": status=500"}, "chat gpt-4o!|reprise.cache.result=miss http.response.status_code=500 error.type=500"},
		{"embeddings", `{"model":"gpt-4o","input":"` + secret + `"}`, nil, "embeddings gpt-4o|reprise.cache.result=miss gen_ai.operation.name=embeddings"},
		{"files/" + secret + "/content?key=" + secret, "{}", nil, "POST|reprise.cache.result=bypass url.path=/v1/files/*/content http.route= http.response.status_code=404"},
	} {
		r.ask(t, "/v1/"+tc.path, tc.body, append(tc.header, "X-Api-Key: "+secret)...)
		spans := c.of(t)
		name, attributes, _ := strings.Cut(tc.want, "|")
		s := spans[0]
		if got := s.Name + map[bool]string{true: "!"}[s.Failed]; got != name || s.Kind != "server" {
			t.Errorf("%s %s: %s %q, want %q", tc.path, tc.header, s.Kind, got, name)
		}
		for field := range strings.FieldsSeq(attributes) {
			key, want, _ := strings.Cut(field, "=")
			if got := s.Attributes[key]; got != want {
				t.Errorf("%s %s: %s is %q, not %q: %v", tc.path, tc.header, key, got, want, s.Attributes)
			}
		}
		if from := slices.Contains(tc.header, parent); from && (s.Parent != remote || s.Trace != parent[16:48]) || !from && s.Parent != "" {
			t.Errorf("%s: parent %q, trace %q", tc.header, s.Parent, s.Trace)
		}
		holdsNothing(t, spans, secret)
	}
}

// holdsNothing fails if a span has a text that it must not have.
func holdsNothing(t *testing.T, spans []*tracetest.Span, secret string) {
	t.Helper()
	for _, s := range spans {
		for _, text := range append([]string{s.Name, s.State}, s.Events...) {
			if strings.Contains(text, secret) {
				t.Errorf("a span has %q", text)
			}
		}
		for key, value := range s.Attributes {
			if strings.Contains(key+value, secret) {
				t.Errorf("a span has %s=%s", key, value)
			}
		}
	}
}

// TestNotSampled: a request that is not sampled has no span.
func TestNotSampled(t *testing.T) {
	traces, c := traces(t, "OTEL_TRACES_SAMPLER=parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG=0")
	r := newRig(t, traces)
	r.ask(t, "/v1/chat/completions", chat(capital))
	r.ask(t, "/v1/chat/completions", chat(capital))
	r.ask(t, "/v1/chat/completions", chat(capital), "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	if s := c.of(t)[0]; s.Attributes["reprise.cache.result"] != "exact" || len(c.Spans()) != 2 { // with that of the reading
		t.Errorf("%d spans: %+v", len(c.Spans()), s)
	}
}
