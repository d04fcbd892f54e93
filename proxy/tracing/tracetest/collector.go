// Package tracetest is a collector of spans for tests: it takes what an exporter sends by OTLP as JSON over HTTP.
package tracetest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
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
	var sent *trace.TracesData
	if err == nil {
		sent, err = Decode(body)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/json" {
		c.failed = append(c.failed, fmt.Sprint(r.URL.Path, " ", r.Header.Get("Content-Type"), " ", err))
		http.Error(w, "no spans", http.StatusBadRequest)
		return
	}
	c.headers = append(c.headers, r.Header)
	c.takeLocked(sent)
	close(c.grown)
	c.grown = make(chan struct{})
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, "{}")
}

// Decode reads a request in the JSON mapping of OTLP, and refuses members that the protocol does not have. OTLP differs from protobuf's own mapping in
// the ids, which are hexadecimal digits in place of base64.
func Decode(body []byte) (*trace.TracesData, error) {
	var tree any
	in := json.NewDecoder(bytes.NewReader(body))
	in.UseNumber()
	if err := in.Decode(&tree); err != nil {
		return nil, err
	}
	if err := idsToBase64(tree); err != nil {
		return nil, err
	}
	converted, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	var sent trace.TracesData // as a request of the collector's service, which would take gRPC to compile
	return &sent, protojson.Unmarshal(converted, &sent)
}

// idBytes is how long the ids are.
var idBytes = map[string]int{"traceId": 16, "spanId": 8, "parentSpanId": 8}

func idsToBase64(tree any) error {
	switch node := tree.(type) {
	case []any:
		for _, item := range node {
			if err := idsToBase64(item); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, value := range node {
			size, is := idBytes[name]
			if !is {
				if err := idsToBase64(value); err != nil {
					return err
				}
				continue
			}
			digits, _ := value.(string)
			id, err := hex.DecodeString(digits)
			if err != nil || len(id) != size {
				return fmt.Errorf("%s %v: want %d bytes in hexadecimal digits", name, value, size)
			}
			node[name] = base64.StdEncoding.EncodeToString(id)
		}
	}
	return nil
}

func (c *Collector) takeLocked(sent *trace.TracesData) {
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
