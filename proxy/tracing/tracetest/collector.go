// Package tracetest is a collector of spans for tests: it takes what an exporter sends by OTLP over HTTP.
package tracetest

import (
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector is a collector on an address of its own.
type Collector struct {
	*httptest.Server

	mu       sync.Mutex // protects what follows
	spans    []*Span
	resource map[string]string
	headers  []http.Header
	failed   []string
	grown    chan struct{} // closed when spans have come
}

// Span is one span as it was received.
type Span struct {
	Trace, ID, Parent string // in hexadecimal digits; Parent is "" of the first one
	Name              string
	Kind              string // server, client or internal
	Failed            bool
	Attributes        map[string]string
	Events            []string
	Links             []Link
	State             string // W3C's tracestate
	Start, End        uint64 // nanoseconds since 1970
}

// Link is a connection to another span.
type Link struct{ Trace, ID string }

// New starts a collector, which ends with the test.
func New(t testing.TB) *Collector {
	c := &Collector{resource: map[string]string{}, grown: make(chan struct{})}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

// ServeHTTP takes spans.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		packed, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		in = packed
	}
	body, err := io.ReadAll(in)
	var sent collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &sent)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		c.failed = append(c.failed, r.URL.Path+" "+r.Header.Get("Content-Type"))
		http.Error(w, "no spans", http.StatusBadRequest)
		return
	}
	c.headers = append(c.headers, r.Header)
	c.takeLocked(&sent)
	close(c.grown)
	c.grown = make(chan struct{})
	answer, _ := proto.Marshal(&collector.ExportTraceServiceResponse{})
	w.Header().Set("Content-Type", "application/x-protobuf")
	w.Write(answer)
}

func (c *Collector) takeLocked(sent *collector.ExportTraceServiceRequest) {
	for _, of := range sent.ResourceSpans {
		for k, v := range attributes(of.Resource.GetAttributes()) {
			c.resource[k] = v
		}
		for _, scope := range of.ScopeSpans {
			for _, s := range scope.Spans {
				c.spans = append(c.spans, read(s))
			}
		}
	}
}

func read(s *trace.Span) *Span {
	out := &Span{Trace: hex.EncodeToString(s.TraceId), ID: hex.EncodeToString(s.SpanId), Parent: hex.EncodeToString(s.ParentSpanId), Name: s.Name,
		Kind: strings.ToLower(strings.TrimPrefix(s.Kind.String(), "SPAN_KIND_")), Failed: s.Status.GetCode() == trace.Status_STATUS_CODE_ERROR,
		Attributes: attributes(s.Attributes), State: s.TraceState, Start: s.StartTimeUnixNano, End: s.EndTimeUnixNano}
	for _, e := range s.Events {
		out.Events = append(out.Events, e.Name)
	}
	for _, l := range s.Links {
		out.Links = append(out.Links, Link{hex.EncodeToString(l.TraceId), hex.EncodeToString(l.SpanId)})
	}
	return out
}

func attributes(all []*common.KeyValue) map[string]string {
	out := map[string]string{}
	for _, kv := range all {
		switch v := kv.Value.GetValue().(type) {
		case *common.AnyValue_StringValue:
			out[kv.Key] = v.StringValue
		default:
			out[kv.Key] = strings.TrimSpace(strings.SplitN(kv.Value.String(), ":", 2)[1])
		}
	}
	return out
}

// Wait returns all spans once enough says that they are, and fails the test where they do not come while it runs.
func (c *Collector) Wait(t testing.TB, enough func([]*Span) bool) []*Span {
	t.Helper()
	for {
		c.mu.Lock()
		all, grown, failed := c.spans[:len(c.spans):len(c.spans)], c.grown, c.failed
		c.mu.Unlock()
		if len(failed) > 0 {
			t.Fatalf("sent to the collector: %q", failed)
		}
		if enough(all) {
			return all
		}
		select {
		case <-grown:
		case <-t.Context().Done():
			t.Fatalf("%d spans have come: %+v", len(all), all)
		}
	}
}

// Spans are those that have come.
func (c *Collector) Spans() []*Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spans[:len(c.spans):len(c.spans)]
}

// Resource is what the spans are of.
func (c *Collector) Resource() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.resource
}

// Headers are those of the requests that have come.
func (c *Collector) Headers() []http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.headers
}
