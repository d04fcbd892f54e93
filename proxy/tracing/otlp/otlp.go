// Package otlp sends the spans of package tracing to a collector, by OTLP over HTTP, as OpenTelemetry's own variables say. Spans wait in a queue of a
// fixed size, and one for which there is no room is dropped: no request waits for a collector that is slow or gone.
package otlp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"reprise/proxy/tracing"
)

// Exporter sends spans until it is closed.
type Exporter struct {
	provider *sdktrace.TracerProvider
	settings Settings
	fault    func(error)
}

// Start returns an exporter for s, nil where nothing is to be sent. fault is called with each error of the sending, which may be many. The
// library has one place for all of a process where its errors go: that of the last call.
func Start(s Settings, version string, fault func(error)) *Exporter {
	if !s.On {
		return nil
	}
	otel.SetLogger(logr.Discard()) // it would write values of headers; Read has warned of what is wrong
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { fault(&sending{err}) }))
	client, err := otlptracehttp.New(context.Background())
	if err != nil {
		fault(fmt.Errorf("start sending traces: %w", err))
		return nil
	}
	about, err := resource.New(context.Background(), resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", "reprise"), attribute.String("service.version", version)), resource.WithFromEnv())
	if err != nil { // there is one all the same, without what is wrong
		fault(fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES (environment): %w; allowed is NAME=VALUE, or several between commas; what is wrong is ignored", err))
	}
	b := s.batch
	return &Exporter{sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithSampler(s.sampler), sdktrace.WithIDGenerator(ids{}), sdktrace.WithBatcher(client, sdktrace.WithBatchTimeout(b.delay),
		sdktrace.WithExportTimeout(b.timeout), sdktrace.WithMaxQueueSize(b.queue), sdktrace.WithMaxExportBatchSize(b.size))), s, fault}
}

// mostError is how many bytes of an error are shown.
const mostError = 500

// sending is an error of the library with a text that may be logged: the library has the URL, with what it may have of a credential, and the
// collector's own words, which may repeat the headers of the request and be 4 MiB long.
type sending struct{ err error }

var (
	refused  = regexp.MustCompile(`(?s)failed to send to .*?: (\d{3} [\w -]*)`)
	rejected = regexp.MustCompile(`(?s)OTLP partial success: .*\((\d+ spans) rejected\)`)
)

func (s *sending) Error() string {
	text := s.err.Error()
	if u, is := errors.AsType[*url.Error](s.err); is {
		text = "the collector cannot be reached: " + u.Err.Error()
	} else if status := refused.FindStringSubmatch(text); status != nil {
		text = "the collector answers " + status[1]
	} else if spans := rejected.FindStringSubmatch(text); spans != nil {
		text = "the collector has rejected " + spans[1]
	}
	if len(text) > mostError {
		text = strings.ToValidUTF8(text[:mostError], "") + "…"
	}
	return text
}

func (s *sending) Unwrap() error { return s.err }

// Tracer is what begins the spans that e sends; nil for a nil Exporter.
func (e *Exporter) Tracer() *tracing.Tracer {
	if e == nil {
		return nil
	}
	sampler := e.settings.sampler
	return tracing.New(tracing.Options{Provider: e.provider, Propagate: e.settings.Propagate, Sample: func(parent context.Context, id trace.TraceID) bool {
		return sampler.ShouldSample(sdktrace.SamplingParameters{ParentContext: parent, TraceID: id, Kind: trace.SpanKindServer}).Decision == sdktrace.RecordAndSample
	}})
}

// ids gives a request the id by which it was sampled.
type ids struct{}

func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	return tracing.TraceID(ctx), tracing.NewSpanID()
}

func (ids) NewSpanID(context.Context, trace.TraceID) trace.SpanID { return tracing.NewSpanID() }

// Flush sends what waits.
func (e *Exporter) Flush(ctx context.Context) error { return e.provider.ForceFlush(ctx) }

// Close sends what waits, and gives up after limit. Spans that end later are dropped.
func (e *Exporter) Close(limit time.Duration) {
	if e == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := e.provider.Shutdown(ctx); err != nil {
		e.fault(fmt.Errorf("send the last traces: %w", err))
	}
}
