package otlp

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"reprise/proxy/tracing"
	"reprise/proxy/tracing/tracetest"
)

// start sets the variables of a process, and starts an exporter by them. Its errors go to faults.
func start(t *testing.T, faults *[]error, env ...string) *Exporter {
	t.Helper()
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
	var mu sync.Mutex
	s, warnings := Read(os.Environ())
	if len(warnings) > 0 {
		t.Fatalf("%q", warnings)
	}
	return Start(s, "v1.2.3", func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if faults != nil {
			*faults = append(*faults, err)
		}
	})
}

func one(tracer *tracing.Tracer) {
	span := tracer.Request(http.Header{})
	span.Served("GET", "/v1/models")
	span.End()
}

// TestSends: spans arrive with the resource, the header and the share that the variables set.
func TestSends(t *testing.T) {
	c := tracetest.New(t)
	e := start(t, nil, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL, "OTEL_EXPORTER_OTLP_HEADERS=api-key=a%20secret,x=1", "OTEL_EXPORTER_OTLP_COMPRESSION=gzip",
		"OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=staging,service.version=v9", "OTEL_TRACES_SAMPLER=parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG=0")
	tracer := e.Tracer()
	one(tracer) // not sampled
	span := tracer.Request(http.Header{"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}, "Tracestate": {"vendor=1"}})
	span.Served("GET", "/v1/models")
	span.End()
	e.Close(time.Minute)
	spans := c.Spans()
	if len(spans) != 1 {
		t.Fatalf("%d spans, of which one is sampled", len(spans))
	}
	s := spans[0]
	if s.Trace != "0af7651916cd43dd8448eb211c80319c" || s.Parent != "b7ad6b7169203331" || s.State != "vendor=1" || s.Kind != "server" || s.Name != "GET /v1/models" {
		t.Errorf("%+v", s)
	}
	if r := c.Resource(); r["service.name"] != "reprise" || r["service.version"] != "v9" || r["deployment.environment.name"] != "staging" || r["telemetry.sdk.language"] != "go" {
		t.Error(r)
	}
	if h := c.Headers()[0]; h.Get("Api-Key") != "a secret" || h.Get("X") != "1" || h.Get("Content-Encoding") != "gzip" {
		t.Error(h)
	}
}

// certificates writes the certificate of a server to a file, and its key to another. It starts the server with TLS.
func certificates(t *testing.T, c *httptest.Server) (certificate, key string) {
	t.Helper()
	c.StartTLS()
	t.Cleanup(c.Close)
	der, err := x509.MarshalPKCS8PrivateKey(c.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	write := func(kind string, der []byte) string {
		path := filepath.Join(t.TempDir(), "pem")
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("CERTIFICATE", c.Certificate().Raw), write("PRIVATE KEY", der)
}

// TestTLS: a collector whose certificate the operator names is trusted, and it sees the certificate of the client.
func TestTLS(t *testing.T) {
	c := tracetest.New(t)
	secure := httptest.NewUnstartedServer(c)
	secure.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	certificate, key := certificates(t, secure)
	e := start(t, nil, "OTEL_EXPORTER_OTLP_ENDPOINT="+secure.URL+"/", "OTEL_EXPORTER_OTLP_CERTIFICATE="+certificate,
		"OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE="+certificate, "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY="+key)
	one(e.Tracer())
	if e.Close(time.Minute); len(c.Spans()) != 1 {
		t.Errorf("%d spans have come", len(c.Spans()))
	}
}

// TestPaths: a URL of all signals has the path of traces below it, and one of traces is used as it is.
func TestPaths(t *testing.T) {
	for env, want := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://h:1":                "http://h:1/v1/traces",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://u:p@h/a/?k=v":       "http://h/a/v1/traces",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://h:1":        "https://h:1/",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://u:p@h/v1/t": "https://h/v1/t",
	} {
		if s, _ := Read([]string{env}); s.target.url != want {
			t.Errorf("%s: %s, want %s", env, s.target.url, want)
		}
	}
}

// TestName: OTEL_SERVICE_NAME wins over the program's own name.
func TestName(t *testing.T) {
	c := tracetest.New(t)
	e := start(t, nil, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="+c.URL+"/v1/traces", "OTEL_SERVICE_NAME=cache-eu")
	one(e.Tracer())
	if e.Close(time.Minute); c.Resource()["service.name"] != "cache-eu" {
		t.Error(c.Resource())
	}
}

// TestOff: what switches traces off, whatever else is set.
func TestOff(t *testing.T) {
	for _, env := range [][]string{nil, {"OTEL_EXPORTER_OTLP_ENDPOINT="}, {"OTEL_EXPORTER_OTLP_ENDPOINT=http://h:4318", "OTEL_SDK_DISABLED=TRUE"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://h:4318", "OTEL_TRACES_EXPORTER=none"}, {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://h:4318"}} {
		s, warnings := Read(env)
		e := Start(s, "", nil)
		if s.On || e != nil || e.Tracer() != nil || len(warnings) > 0 {
			t.Errorf("%q: %+v, %q", env, s, warnings)
		}
		e.Close(0)
	}
}

// TestWrongValues: each is named with what is allowed and what counts in its place, and no secret.
func TestWrongValues(t *testing.T) {
	noCertificate := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(noCertificate, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	certificate, _ := certificates(t, httptest.NewUnstartedServer(nil))
	const at = "OTEL_EXPORTER_OTLP_ENDPOINT=http://user:secret@collector:4318"
	for _, c := range []struct {
		set, want string
		off       bool
	}{
		{set: "OTEL_SDK_DISABLED=yes", want: "OTEL_SDK_DISABLED=yes (environment): allowed is true or false; it counts as false"},
		{set: "OTEL_EXPORTER_OTLP_ENDPOINT=secret:4318", off: true, want: "OTEL_EXPORTER_OTLP_ENDPOINT (environment): allowed is a URL with http:// or https://, such as http://collector:4318; no traces are sent"},
		{set: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=grpc://secret:4318", off: true, want: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT (environment): allowed is a URL with http:// or https://, such as http://collector:4318; no traces are sent"},
		{set: "OTEL_TRACES_EXPORTER=zipkin", off: true, want: "OTEL_TRACES_EXPORTER=zipkin (environment): allowed is otlp or none; the others are ignored"},
		{set: "OTEL_TRACES_EXPORTER=otlp,console", want: "OTEL_TRACES_EXPORTER=otlp,console (environment): allowed is otlp or none; the others are ignored"},
		{set: "OTEL_PROPAGATORS=b3", want: "OTEL_PROPAGATORS=b3 (environment): allowed is tracecontext, baggage or none, or several between commas; the others are ignored"},
		{set: "OTEL_TRACES_SAMPLER=sometimes", want: "OTEL_TRACES_SAMPLER=sometimes (environment): allowed is always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio; it counts as parentbased_always_on"},
		{set: "OTEL_TRACES_SAMPLER_ARG=0.5", want: "OTEL_TRACES_SAMPLER_ARG=0.5 (environment): only the samplers traceidratio and parentbased_traceidratio have an argument; it is ignored"},
		{set: "OTEL_TRACES_SAMPLER=traceidratio OTEL_TRACES_SAMPLER_ARG=1%", want: "OTEL_TRACES_SAMPLER_ARG=1% (environment): allowed is a number from 0 to 1; it counts as 1"},
		{set: "OTEL_BSP_MAX_QUEUE_SIZE=-1", want: "OTEL_BSP_MAX_QUEUE_SIZE=-1 (environment): allowed is a number from 1 to 1000000; it counts as 2048"},
		{set: "OTEL_BSP_SCHEDULE_DELAY=0", want: "OTEL_BSP_SCHEDULE_DELAY=0 (environment): allowed is a number from 1 to 1000000; it counts as 5000"},
		{set: "OTEL_BSP_EXPORT_TIMEOUT=1s", want: "OTEL_BSP_EXPORT_TIMEOUT=1s (environment): allowed is a number from 1 to 1000000; it counts as 30000"},
		{set: "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=4096", want: "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=4096 (environment): it is above the size of the queue; it counts as 2048"},
		{set: "OTEL_EXPORTER_OTLP_PROTOCOL=grpc", want: "OTEL_EXPORTER_OTLP_PROTOCOL=grpc (environment): allowed is http/json; it counts as http/json, which collectors take at port 4318"},
		{set: "OTEL_EXPORTER_OTLP_COMPRESSION=zstd", want: "OTEL_EXPORTER_OTLP_COMPRESSION=zstd (environment): allowed is gzip or none; it counts as none"},
		{set: "OTEL_EXPORTER_OTLP_TIMEOUT=10s", want: "OTEL_EXPORTER_OTLP_TIMEOUT=10s (environment): allowed is a number of milliseconds from 1 on; it is ignored"},
		{set: "OTEL_EXPORTER_OTLP_HEADERS=secret", want: "OTEL_EXPORTER_OTLP_HEADERS (environment): allowed is NAME=VALUE, or several between commas, percent-encoded, without control characters; the others are ignored"},
		{set: "OTEL_EXPORTER_OTLP_HEADERS=a=secret%0d%0aB:%20c", want: "OTEL_EXPORTER_OTLP_HEADERS (environment): allowed is NAME=VALUE, or several between commas, percent-encoded, without control characters; the others are ignored"},
		{set: "OTEL_EXPORTER_OTLP_CERTIFICATE=" + noCertificate, want: "OTEL_EXPORTER_OTLP_CERTIFICATE=" + noCertificate + " (environment): the file has no certificate; it is ignored"},
		{set: "OTEL_EXPORTER_OTLP_CLIENT_KEY=key.pem", want: "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY (environment): only one of them is set; it is ignored"},
		{set: "OTEL_EXPORTER_OTLP_ENDPOINT=http://h/secret?key=secret", want: "OTEL_EXPORTER_OTLP_ENDPOINT (environment): the query of the URL is not sent; a credential belongs in OTEL_EXPORTER_OTLP_HEADERS"},
		{set: "OTEL_EXPORTER_OTLP_CERTIFICATE=" + certificate, off: true, want: "OTEL_EXPORTER_OTLP_ENDPOINT (environment): certificates are set, and the URL has no https://; no traces are sent"},
		{set: "OTEL_EXPORTER_OTLP_ENDPONT=http://h", want: "OTEL_EXPORTER_OTLP_ENDPONT (environment): there is no such setting; did you mean OTEL_EXPORTER_OTLP_ENDPOINT?"},
	} {
		s, warnings := Read(append([]string{at}, strings.Fields(c.set)...))
		if strings.Join(warnings, "|") != c.want || s.On == c.off {
			t.Errorf("%s: on %v,\n     %q\nwant %q", c.set, s.On, warnings, c.want)
		}
		if strings.Contains(s.Endpoint, "secret") {
			t.Errorf("%s: %s", c.set, s.Endpoint)
		}
	}
}

// TestWrongValuesWork: with all of them traces are sent as by default.
func TestWrongValuesWork(t *testing.T) {
	c := tracetest.New(t)
	for _, kv := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.URL, "OTEL_SDK_DISABLED=yes", "OTEL_TRACES_SAMPLER=sometimes", "OTEL_TRACES_SAMPLER_ARG=x",
		"OTEL_BSP_MAX_QUEUE_SIZE=-1", "OTEL_BSP_SCHEDULE_DELAY=-1", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=-5", "OTEL_BSP_EXPORT_TIMEOUT=never", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc",
		"OTEL_EXPORTER_OTLP_HEADERS=secret", "OTEL_EXPORTER_OTLP_TIMEOUT=x", "OTEL_EXPORTER_OTLP_COMPRESSION=zstd", "OTEL_RESOURCE_ATTRIBUTES=a",
		"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=many"} {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
	s, warnings := Read(os.Environ())
	if len(warnings) != 11 {
		t.Errorf("%d warnings: %q", len(warnings), warnings)
	}
	var said []string
	e := Start(s, "", func(err error) { said = append(said, err.Error()) })
	one(e.Tracer())
	if e.Close(time.Minute); len(c.Spans()) != 1 {
		t.Errorf("%d spans", len(c.Spans()))
	}
	if !slices.ContainsFunc(said, func(s string) bool { return strings.HasPrefix(s, "OTEL_RESOURCE_ATTRIBUTES (environment): ") }) {
		t.Errorf("%q", said)
	}
}

// TestCollectorGone: no span waits for it, its errors are reported, and the end is bounded.
func TestCollectorGone(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	var faults []error
	e := start(t, &faults, "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+l.Addr().String(), "OTEL_BSP_MAX_QUEUE_SIZE=100", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=10", "OTEL_BSP_EXPORT_TIMEOUT=10")
	for range 10_000 {
		one(e.Tracer())
	}
	e.Close(time.Minute) // the queue is short: each of its batches has 10 ms
	if len(faults) == 0 {
		t.Error("no error was reported")
	}
}

// TestCollectorStuck: it takes the connection and never answers.
func TestCollectorStuck(t *testing.T) {
	release := make(chan struct{})
	c := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer c.Close()
	defer close(release)
	var faults []error
	e := start(t, &faults, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL, "OTEL_BSP_MAX_QUEUE_SIZE=100", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=10")
	for range 10_000 {
		one(e.Tracer())
	}
	if e.Close(10 * time.Millisecond); len(faults) != 1 || !errors.Is(faults[0], context.DeadlineExceeded) {
		t.Errorf("Close: %v", faults)
	}
}

// TestCollectorSaysMuch: that a collector refuses spans comes into the log, without its own words, which may be megabytes and repeat the credentials that
// it was sent.
func TestCollectorSaysMuch(t *testing.T) {
	for want, answer := range map[string]func(w http.ResponseWriter, r *http.Request){
		"the collector answers 400 Bad Request": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, "failed to send to x: 999 %v %s", r.Header, bytes.Repeat([]byte("no room \xe2\x82"), 100_000))
		},
		"the collector has rejected 1 spans": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"partialSuccess": {"rejectedSpans": "1", "errorMessage": "secret"}}`)
		},
		"the collector took the spans with a warning": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			io.WriteString(w, `{"partialSuccess": {"errorMessage": "secret"}}`)
		},
		"the collector answers 503 Service Unavailable": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "secret", http.StatusServiceUnavailable)
		},
		"the collector cannot be reached: ": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		c := httptest.NewServer(http.HandlerFunc(answer))
		var faults []error
		e := start(t, &faults, "OTEL_EXPORTER_OTLP_ENDPOINT="+strings.Replace(c.URL, "://", "://secret:secret@", 1)+"/secret", "OTEL_EXPORTER_OTLP_HEADERS=api-key=secret", "OTEL_BSP_EXPORT_TIMEOUT=500")
		one(e.Tracer())
		e.Close(time.Minute)
		c.Close()
		if !slices.ContainsFunc(faults, func(err error) bool { return strings.HasPrefix(err.Error(), want) }) {
			t.Errorf("not reported: %s; %q", want, faults)
		}
		for _, err := range faults {
			if text := err.Error(); len(text) > 600 || !utf8.ValidString(text) || strings.Contains(text, "secret") {
				t.Errorf("%d bytes: %.100q", len(text), text)
			}
		}
	}
}
