package otlp

import (
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	spantest "go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"reprise/proxy/tracing/tracetest"
)

var (
	traceID = trace.TraceID{0x0a, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xff}
	began   = time.Unix(1_700_000_000, 123_456_789)
)

func spanContext(span byte, remote bool, state string) trace.SpanContext {
	parsed, err := trace.ParseTraceState(state)
	if err != nil {
		panic(err)
	}
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: traceID, SpanID: trace.SpanID{span}, TraceFlags: trace.FlagsSampled, TraceState: parsed, Remote: remote})
}

func str(key, s string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: s}}}
}

func id(span byte) []byte { return []byte{span, 0, 0, 0, 0, 0, 0, 0} }

// TestEncode: the decoder of the protocol reads what went in, of a span that has all that spans have, and of one that has least.
func TestEncode(t *testing.T) {
	eu, in := resource.NewWithAttributes("https://schema/resource", attribute.String("service.name", "eu")), instrumentation.Scope{Name: "a"}
	full := spantest.SpanStub{
		Name: "chat <m>", SpanContext: spanContext(1, false, "vendor=1"), Parent: spanContext(2, true, ""), SpanKind: trace.SpanKindServer,
		StartTime: began, EndTime: began.Add(time.Second),
		Attributes: []attribute.KeyValue{attribute.Bool("bool", false), attribute.Int64("int", -1<<63), attribute.String("string", ""), attribute.String("\xff", "\xff")},
		Events:     []sdktrace.Event{{Name: "e", Time: began}},
		Links:      []sdktrace.Link{{SpanContext: spanContext(3, true, "")}, {SpanContext: spanContext(4, false, "")}},
		Status:     sdktrace.Status{Code: codes.Error, Description: "why"}, DroppedAttributes: 1, DroppedEvents: 2, DroppedLinks: 3, Resource: eu, InstrumentationScope: in,
	}
	least := spantest.SpanStub{SpanContext: spanContext(5, false, ""), SpanKind: trace.SpanKindClient, StartTime: time.Unix(-1, 0), EndTime: began,
		Status: sdktrace.Status{Code: codes.Ok}, Resource: eu, InstrumentationScope: in}
	body, err := encode([]sdktrace.ReadOnlySpan{full.Snapshot(), least.Snapshot()})
	if err != nil {
		t.Fatal(err)
	}
	got, err := tracetest.Decode(body)
	if err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	want := &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource: &resourcepb.Resource{Attributes: []*commonpb.KeyValue{str("service.name", "eu")}}, SchemaUrl: "https://schema/resource",
		ScopeSpans: []*tracepb.ScopeSpans{{Scope: &commonpb.InstrumentationScope{Name: "a"}, Spans: []*tracepb.Span{
			{
				TraceId: traceID[:], SpanId: id(1), ParentSpanId: id(2), TraceState: "vendor=1", Flags: 0x301, Name: "chat <m>", Kind: tracepb.Span_SPAN_KIND_SERVER,
				StartTimeUnixNano: 1_700_000_000_123_456_789, EndTimeUnixNano: 1_700_000_001_123_456_789,
				Attributes: []*commonpb.KeyValue{
					{Key: "bool", Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{}}},
					{Key: "int", Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: -1 << 63}}}, str("string", ""), str("\uFFFD", "\uFFFD"),
				},
				Events:                 []*tracepb.Span_Event{{Name: "e", TimeUnixNano: 1_700_000_000_123_456_789}},
				Links:                  []*tracepb.Span_Link{{TraceId: traceID[:], SpanId: id(3), Flags: 0x301}, {TraceId: traceID[:], SpanId: id(4), Flags: 0x101}},
				Status:                 &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: "why"},
				DroppedAttributesCount: 1, DroppedEventsCount: 2, DroppedLinksCount: 3,
			},
			{TraceId: traceID[:], SpanId: id(5), Flags: 0x101, Kind: tracepb.Span_SPAN_KIND_CLIENT, EndTimeUnixNano: uint64(began.UnixNano()), Status: &tracepb.Status{Code: tracepb.Status_STATUS_CODE_OK}},
		}}},
	}}}
	if !proto.Equal(got, want) {
		t.Errorf("got %v\nwant %v\n%s", got, want, body)
	}
	// The decoder also takes names of enumerations and bare integers, which OTLP does not allow.
	for _, form := range []string{`"traceId":"0a0102030405060708090a0b0c0d0eff"`, `"startTimeUnixNano":"1700000000123456789"`, `"kind":2,`, `"intValue":"-9223372036854775808"`, `"status":{"message":"why","code":2}`, `"timeUnixNano":"17`} {
		if !strings.Contains(string(body), form) {
			t.Errorf("no %s in %s", form, body)
		}
	}
}
