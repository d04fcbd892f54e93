package proxy

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"reprise/internal/enginesim"
	"reprise/proxy/tracing/otlp"
	"reprise/proxy/tracing/tracetest"
	"reprise/proxy/upstream"
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
	t.Cleanup(func() { c.exporter.Close(time.Minute) })
	return func(o *Options) { o.Tracer = c.exporter.Tracer() }, c
}

// of waits until a request more of r has ended, and returns the spans that have come since the last call in the order in which they began: the
// first is that of the request.
func (c *traced) of(t testing.TB, r *rig) []*tracetest.Span { return c.ofAll(t, r, 1) }

// ofAll is of for n requests.
func (c *traced) ofAll(t testing.TB, r *rig, n int) []*tracetest.Span {
	t.Helper()
	var spans []*tracetest.Span
	eventually(t, fmt.Sprint(n, " requests"), func() bool {
		if err := errors.Join(r.Wait(t.Context()), c.exporter.Flush(t.Context())); err != nil {
			t.Fatal(err)
		}
		spans = slices.Clone(c.Spans()[c.seen:])
		return len(slices.DeleteFunc(slices.Clone(spans), func(s *tracetest.Span) bool { return s.Kind != "server" })) == n
	})
	c.seen += len(spans)
	slices.SortStableFunc(spans, func(a, b *tracetest.Span) int { return cmp.Compare(a.Start, b.Start) })
	return spans
}

// tree is the spans below one, in a line: its name, a > for a call of the upstream, a ! where it failed, its events, and in brackets what is
// below it.
func tree(all []*tracetest.Span, root *tracetest.Span) string {
	var b strings.Builder
	if root.Kind == "client" {
		b.WriteString(">")
	}
	b.WriteString(root.Name)
	if root.Failed {
		b.WriteString("!")
	}
	for _, e := range root.Events {
		b.WriteString("." + e)
	}
	var below []string
	for _, s := range all {
		if s.Parent == root.ID && s.Trace == root.Trace {
			below = append(below, tree(all, s))
		}
	}
	if len(below) > 0 {
		b.WriteString("(" + strings.Join(below, " ") + ")")
	}
	return b.String()
}

// child is the first span with a name below another.
func child(t testing.TB, all []*tracetest.Span, parent *tracetest.Span, kind string) *tracetest.Span {
	t.Helper()
	for _, s := range all {
		if s.Parent == parent.ID && s.Kind == kind {
			return s
		}
	}
	t.Fatalf("no %s below %s", kind, tree(all, parent))
	return nil
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
	if all := c.of(t, r); tree(all, all[0]) != "chat gpt-4o(read exact)" || len(all) != 3 {
		t.Errorf("%d spans: %+v", len(all), all[0])
	}
}

// TestSteps: the spans of the steps of each kind of request are below that of the request.
func TestSteps(t *testing.T) {
	traces, c := traces(t)
	r := newRig(t, traces)
	fault := func(how string) []string { return []string{enginesim.FaultHeader + ": " + how} }
	for _, tc := range []struct {
		name, path, body string
		header           []string
		want             string
	}{
		{"miss", "chat/completions", chat(capital), nil, "chat gpt-4o(read exact exact embed route >chat gpt-4o.first_byte keep)"},
		{"exact hit", "chat/completions", chat(capital), nil, "chat gpt-4o(read exact)"},
		{"hit by its form", "chat/completions", chat(similar), nil, "chat gpt-4o(read exact exact judge)"},
		{"first of a pair", "chat/completions", chat("What are some benefits of a garden?"), nil, "chat gpt-4o(read exact exact embed route >chat gpt-4o.first_byte keep)"},
		{"hit by edits", "chat/completions", chat("What are some of the benefits of a garden?"), nil, "chat gpt-4o(read exact exact embed route judge)"},
		{"stream", "chat/completions", chat("Who wrote Faust?", `"stream":true`), nil, "chat gpt-4o(read exact exact embed route >chat gpt-4o.first_byte keep)"},
		{"bypass", "chat/completions", chat(capital, `"n":2`), nil, "chat gpt-4o(read >chat gpt-4o.first_byte)"},
		{"another path", "models", "", nil, "POST(>POST!.first_byte)"},
		{"status", "chat/completions", chat("Who wrote Nathan?"), fault("status=503"), "chat gpt-4o!(read exact exact embed route >chat gpt-4o!.first_byte keep)"},
		{"cut stream", "chat/completions", chat("Who wrote Momo?", `"stream":true`), fault("cut-events=2"), "chat gpt-4o!(read exact exact embed route >chat gpt-4o!.first_byte keep)"},
		{"bad body", "chat/completions", "{", nil, "POST /v1/chat/completions(read)"},
	} {
		_, _ = r.try("/v1/"+tc.path, tc.body, tc.header...) // one is cut
		all := c.of(t, r)
		if got := tree(all, all[0]); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
		for _, s := range all {
			if s.Trace != all[0].Trace || s.Parent == "" && s != all[0] || s.Start < all[0].Start || s.End < s.Start {
				t.Errorf("%s: %s is not below the request: %+v", tc.name, s.Name, s)
			}
		}
	}
}

// TestCall: the span of a call has what was asked, of whom, and the tokens that the answer took; a stored answer took none.
func TestCall(t *testing.T) {
	traces, c := traces(t)
	r := newRig(t, traces)
	up, err := url.Parse(r.up.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, stream := range []string{`"stream":false`, `"stream":true`} {
		r.ask(t, "/v1/chat/completions", chat("Who wrote Faust? "+stream, stream))
		all := c.of(t, r)
		call := child(t, all, all[0], "client")
		for key, want := range map[string]string{"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-4o", "gen_ai.response.model": "gpt-4o",
			"server.address": up.Hostname(), "server.port": up.Port(), "url.scheme": "http", "http.response.status_code": "200", "http.request.method": "POST", "reprise.upstream": up.Host} {
			if got := call.Attributes[key]; got != want {
				t.Errorf("%s: %s is %q, not %q", stream, key, got, want)
			}
		}
		if call.Attributes["gen_ai.usage.input_tokens"] == "" || call.Attributes["gen_ai.usage.output_tokens"] == "" {
			t.Errorf("%s: no tokens: %v", stream, call.Attributes)
		}
		r.ask(t, "/v1/chat/completions", chat("Who wrote Faust? "+stream, stream))
		if hit := c.of(t, r)[0]; hit.Attributes["gen_ai.usage.input_tokens"] != "" || hit.Attributes["reprise.tokens_saved"] == "" {
			t.Errorf("hit: %v", hit.Attributes)
		}
	}
}

// TestTraceGoesUpstream: the upstream gets the trace context of the span of its call, or that of the client where the request is not sampled.
func TestTraceGoesUpstream(t *testing.T) {
	const theirs, notSampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
	for _, path := range []string{"/v1/chat/completions", "/v1/moderations"} {
		for _, tc := range []struct {
			name, sent string
			env        []string
			want       func(got string, call *tracetest.Span) bool
		}{
			{"a new trace", "", nil, func(got string, call *tracetest.Span) bool { return got == "00-"+call.Trace+"-"+call.ID+"-01|" }},
			{"the client's trace", theirs, nil, func(got string, call *tracetest.Span) bool {
				return got == "00-"+theirs[3:35]+"-"+call.ID+"-01|vendor=1" && call.Trace == theirs[3:35] && call.State == "vendor=1"
			}},
			{"no trace context", "00-nonsense", nil, func(got string, call *tracetest.Span) bool { return got == "00-"+call.Trace+"-"+call.ID+"-01|" }},
			{"not sampled by the client", notSampled, nil, func(got string, _ *tracetest.Span) bool { return got == notSampled+"|vendor=1" }},
			{"not sampled here", "", []string{"OTEL_TRACES_SAMPLER=always_off"}, func(got string, _ *tracetest.Span) bool { return len(got) == 56 && strings.HasSuffix(got, "-00|") }},
			{"the share decides", theirs, []string{"OTEL_TRACES_SAMPLER=traceidratio", "OTEL_TRACES_SAMPLER_ARG=0"}, func(got string, _ *tracetest.Span) bool { return got == theirs+"|vendor=1" }},
			{"no propagation", theirs, []string{"OTEL_PROPAGATORS=none"}, func(got string, call *tracetest.Span) bool {
				return got == theirs+"|vendor=1" && call.Trace != theirs[3:35]
			}},
		} {
			t.Run(tc.name+path, func(t *testing.T) {
				traces, c := traces(t, tc.env...)
				got := make(chan string, 1)
				r := newRigAt(t, nil, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					got <- strings.Join(r.Header["Traceparent"], ",") + "|" + strings.Join(r.Header["Tracestate"], ",")
					instantUpstream(w, r)
				}), traces)
				r.ask(t, path, chat(capital), nonEmpty([]string{map[bool]string{true: "traceparent: " + tc.sent}[tc.sent != ""], "tracestate: vendor=1"})...)
				var call *tracetest.Span
				if len(tc.env) == 0 && tc.sent != notSampled || tc.env != nil && strings.HasPrefix(tc.env[0], "OTEL_PROP") {
					all := c.of(t, r)
					call = child(t, all, all[0], "client")
				}
				if g := within(t, got, "the upstream call"); !tc.want(g, call) {
					t.Errorf("the upstream got %q; the call is %+v", g, call)
				}
			})
		}
	}
}

// TestSeveralUpstreams: the choice has a span, and so has each upstream that is asked.
func TestSeveralUpstreams(t *testing.T) {
	traces, c := traces(t)
	r := newRig(t, traces, func(o *Options) {
		gone, err := url.Parse("http://127.0.0.1:1/v1")
		if err != nil {
			t.Fatal(err)
		}
		o.Upstreams[0].Name = "works"
		o.Upstreams = append(o.Upstreams, upstream.Target{Name: "gone", Base: gone})
		o.Routing.HealthInterval = -1
	})
	both := false
	for i := range 50 {
		r.ask(t, "/v1/chat/completions", chat(fmt.Sprint("Who wrote the book number ", i, "?")))
		all := c.of(t, r)
		switch got := tree(all, all[0]); got {
		case "chat gpt-4o(read exact exact embed route choose >chat gpt-4o.first_byte keep)":
		case "chat gpt-4o(read exact exact embed route choose >chat gpt-4o! choose >chat gpt-4o.first_byte keep)":
			both = true
			failed := child(t, all, all[0], "client")
			if failed.Attributes["reprise.upstream"] != "gone" || failed.Attributes["error.type"] != "unreachable" {
				t.Errorf("%v", failed.Attributes)
			}
		default:
			if !strings.Contains(got, "judge") {
				t.Fatal(got)
			}
		}
		if both {
			return
		}
	}
	t.Error("the upstream that is gone was never asked")
}

// TestFollowers: each request that waits for the flight of another has a span of the wait, and one of them the call.
func TestFollowers(t *testing.T) {
	traces, c := traces(t)
	up := newStage()
	r := newRigAt(t, nil, up, traces)
	const n = 3
	replies := make(chan reply, n)
	for range n {
		go func() {
			got, err := r.try("/v1/chat/completions", chat(capital))
			if err != nil {
				t.Error(err)
			}
			replies <- got
		}()
	}
	within(t, up.arrived, "the upstream call")
	r.waiters(t, n)
	up.script <- answers
	for range n {
		within(t, replies, "an answer")
	}
	all := c.ofAll(t, r, n)
	got := map[string]int{}
	call := all[slices.IndexFunc(all, func(s *tracetest.Span) bool { return s.Kind == "client" })]
	for _, s := range all {
		if s.Kind == "server" {
			if shared := s.Attributes["reprise.cache.result"] == "shared"; shared && !linked(s, call) || !shared && len(s.Links) > 0 {
				t.Errorf("%s: links %v", s.Attributes["reprise.cache.result"], s.Links)
			}
			got[s.Attributes["reprise.cache.result"]+" "+tree(all, s)]++
		}
	}
	want := map[string]int{"miss chat gpt-4o(read exact exact embed route >chat gpt-4o.first_byte keep)": 1, "shared chat gpt-4o(read exact wait)": n - 1}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// linked reports whether a span has one link, to another span.
func linked(s, to *tracetest.Span) bool {
	return slices.Equal(s.Links, []tracetest.Link{{Trace: to.Trace, ID: to.ID}})
}

// TestHitLinksToItsOrigin: a hit of each kind has a link to the call that made the answer, after a restart too.
func TestHitLinksToItsOrigin(t *testing.T) {
	traces, c := traces(t)
	path := filepath.Join(t.TempDir(), "reprise.db")
	var call *tracetest.Span
	for _, restarted := range []bool{false, true} {
		var now atomic.Int64
		var down atomic.Bool
		now.Store(time.Now().Unix())
		engine := enginesim.New(enginesim.Options{})
		r := newRigAt(t, engine, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if down.Load() {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			engine.ServeHTTP(w, r)
		}), traces, func(o *Options) {
			o.Store, o.TTL, o.StaleIfError = fileStoreOf(t, "rac+", path, 100), time.Hour, time.Hour
			o.Now = func() time.Time { return time.Unix(now.Load(), 0) }
		})
		for _, one := range []struct{ body, result string }{
			{chat(capital), "miss"}, {chat(capital), "exact"}, {chat(capital, `"stream":true`), "exact"}, {chat(similar), "semantic"}, {chat(capital), "stale"},
		} {
			if restarted && one.result == "miss" {
				continue
			}
			if one.result == "stale" {
				now.Add(3700)
				down.Store(true)
			}
			got := r.ask(t, "/v1/chat/completions", one.body)
			all := c.of(t, r)
			switch s := all[0]; {
			case got.cache() != one.result && !restarted:
				t.Errorf("%s, want %s", got.cache(), one.result)
			case one.result == "miss":
				if call = child(t, all, s, "client"); len(s.Links) > 0 {
					t.Errorf("a miss has links: %v", s.Links)
				}
			case !linked(s, call):
				t.Errorf("%s, restarted %v: links %v, want %s %s", one.result, restarted, s.Links, call.Trace, call.ID)
			}
		}
		r.api.Close()
		r.Server.Close()
		if err := r.store.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoOrigin: an answer of a request that was not sampled has no origin, and is stored as it was without traces.
func TestNoOrigin(t *testing.T) {
	traces, c := traces(t, "OTEL_TRACES_SAMPLER=parentbased_always_off")
	r := newRig(t, traces)
	r.ask(t, "/v1/chat/completions", chat(capital))
	r.ask(t, "/v1/chat/completions", chat(capital), "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	if s := c.of(t, r)[0]; len(s.Links) > 0 || s.Attributes["reprise.cache.result"] != "exact" {
		t.Errorf("%+v", s)
	}
}

// TestExemplars: the histograms of latency point to the spans, where the scraper asks for OpenMetrics and in native histograms. The names of metrics
// are those of the other form.
func TestExemplars(t *testing.T) {
	traces, c := traces(t)
	r := newRig(t, traces)
	r.ask(t, "/v1/chat/completions", chat(capital))
	all := c.of(t, r)
	root, call := all[0], child(t, all, all[0], "client")
	plain, open := r.get(t, "/metrics").body, r.get(t, "/metrics", "Accept: application/openmetrics-text;version=1.0.0").body
	for name, s := range map[string]*tracetest.Span{`reprise_request_duration_seconds_bucket{result="miss",`: root,
		`reprise_step_duration_seconds_bucket{step="upstream",`: call, `reprise_step_duration_seconds_bucket{step="embed",`: root} {
		found := false
		for line := range strings.Lines(open) {
			found = found || strings.HasPrefix(line, name) && strings.Contains(line, `trace_id="`+s.Trace+`"`) && strings.Contains(line, `span_id="`+s.ID+`"`)
		}
		if !found {
			t.Errorf("no example of %s is %s", name, s.ID)
		}
	}
	if strings.Contains(plain, "trace_id") {
		t.Error("the plain form has examples, which its readers refuse")
	}
	if a, b := samples(plain), samples(open); !maps.Equal(a, b) {
		t.Errorf("other names in OpenMetrics: %v and %v", a, b)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(r.Metrics())
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	native := 0
	for _, f := range families {
		for _, m := range f.GetMetric() {
			native += len(m.GetHistogram().GetExemplars())
		}
	}
	if native < 3 {
		t.Errorf("%d examples in native histograms", native)
	}
}

// samples are the names of samples in a page of metrics.
func samples(page string) map[string]bool {
	names := map[string]bool{}
	for line := range strings.Lines(page) {
		if name, _, ok := strings.Cut(line, " "); ok && !strings.HasPrefix(line, "#") && strings.HasPrefix(line, "reprise_") {
			name, _, _ = strings.Cut(name, "{")
			names[name] = true
		}
	}
	return names
}
