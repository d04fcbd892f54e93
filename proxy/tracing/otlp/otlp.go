// Package otlp sends the spans of package tracing to a collector by OTLP as JSON over HTTP. OpenTelemetry's own environment variables configure it.
// Spans wait in a queue of fixed size; if it is full, new spans are dropped, so no request waits for a slow or missing collector.
package otlp

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"reprise/proxy/tracing"
)

// Exporter sends spans until it is closed.
type Exporter struct {
	provider *sdktrace.TracerProvider
	sender   *sender
	settings Settings
}

// Start returns an exporter for s, or nil if s switches traces off. It calls fault with each error of sending, which may be many.
func Start(s Settings, version string, fault func(error)) *Exporter {
	if !s.On {
		return nil
	}
	about, err := resource.New(context.Background(), resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", "reprise"), attribute.String("service.version", version)), resource.WithFromEnv())
	if err != nil { // there is one all the same, without what is wrong
		fault(fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES (environment): %w; allowed is NAME=VALUE, or several between commas; what is wrong is ignored", err))
	}
	sender := newSender(s.target, version, fault)
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithResource(about),
		sdktrace.WithSampler(s.sampler),
		sdktrace.WithIDGenerator(ids{}),
		sdktrace.WithBatcher(sender,
			sdktrace.WithBatchTimeout(s.batch.delay),
			sdktrace.WithExportTimeout(s.batch.timeout),
			sdktrace.WithMaxQueueSize(s.batch.queue),
			sdktrace.WithMaxExportBatchSize(s.batch.size)))
	return &Exporter{provider, sender, s}
}

// Tracer returns the tracer whose spans e sends; nil if e is nil.
func (e *Exporter) Tracer() *tracing.Tracer {
	if e == nil {
		return nil
	}
	sampler := e.settings.sampler
	return tracing.New(tracing.Options{Provider: e.provider, Propagate: e.settings.Propagate, Sample: func(parent context.Context, id trace.TraceID) bool {
		return sampler.ShouldSample(sdktrace.SamplingParameters{ParentContext: parent, TraceID: id, Kind: trace.SpanKindServer}).Decision == sdktrace.RecordAndSample
	}})
}

// ids gives a new trace the id by which it was sampled.
type ids struct{}

func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	return tracing.TraceID(ctx), tracing.NewSpanID()
}

func (ids) NewSpanID(context.Context, trace.TraceID) trace.SpanID { return tracing.NewSpanID() }

// Flush sends all waiting spans.
func (e *Exporter) Flush(ctx context.Context) error { return e.provider.ForceFlush(ctx) }

// Close sends all waiting spans, and gives up after limit. Spans that end later are dropped.
func (e *Exporter) Close(limit time.Duration) {
	if e == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := e.provider.Shutdown(ctx)
	e.sender.stop() // the library goes on with what waits after it has given up
	if err != nil {
		e.sender.fault(fmt.Errorf("send the last traces: %w", err))
	}
}
