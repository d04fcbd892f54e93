package otlp

import (
	"math"
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

// The spans of the test: all that a span can have.
var (
	traceID = trace.TraceID{0x0a, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xff}
	began   = time.Unix(1_700_000_000, 123_456_789)
	scopeA  = instrumentation.Scope{Name: "a", Version: "v1", SchemaURL: "https://schema/scope", Attributes: attribute.NewSet(attribute.Bool("in", true))}
	eu      = resource.NewWithAttributes("https://schema/resource", attribute.String("service.name", "eu"))
	us      = resource.NewSchemaless(attribute.String("service.name", "us"))
)

func spanContext(span byte, remote bool, state string) trace.SpanContext {
	parsed, err := trace.ParseTraceState(state)
	if err != nil {
		panic(err)
	}
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: traceID, SpanID: trace.SpanID{span}, TraceFlags: trace.FlagsSampled, TraceState: parsed, Remote: remote})
}

func full() sdktrace.ReadOnlySpan {
	return spantest.SpanStub{
		Name: "chat <m>", SpanContext: spanContext(1, false, "vendor=1"), Parent: spanContext(2, true, ""), SpanKind: trace.SpanKindServer,
		StartTime: began, EndTime: began.Add(time.Second),
		Attributes: []attribute.KeyValue{
			attribute.Bool("bool", false), attribute.Int64("int", -1<<63), attribute.Float64("double", 0.1), attribute.String("string", ""),
			attribute.BoolSlice("bools", []bool{true}), attribute.Int64Slice("ints", []int64{1 << 62}), attribute.StringSlice("strings", []string{"a", "b"}),
			attribute.Float64Slice("doubles", []float64{math.Inf(1), math.Inf(-1)}),
			{Key: "bytes", Value: attribute.ByteSliceValue([]byte{0, 255})},
			{Key: "mixed", Value: attribute.SliceValue(attribute.IntValue(1), attribute.StringValue("a"))},
			{Key: "map", Value: attribute.MapValue(attribute.Int("k", 2))},
			{Key: "empty"},
			attribute.String("\xff", "\xff"),
		},
		Events:            []sdktrace.Event{{Name: "e", Time: began, Attributes: []attribute.KeyValue{attribute.Int("n", 1)}, DroppedAttributeCount: 4}},
		Links:             []sdktrace.Link{{SpanContext: spanContext(3, true, "l=1"), Attributes: []attribute.KeyValue{attribute.Int("n", 1)}, DroppedAttributeCount: 5}, {SpanContext: spanContext(4, false, "")}},
		Status:            sdktrace.Status{Code: codes.Error, Description: "why"},
		DroppedAttributes: 1, DroppedEvents: 2, DroppedLinks: 3,
		Resource: eu, InstrumentationScope: scopeA,
	}.Snapshot()
}

func str(s string) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: s}}
}

func integer(n int64) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: n}}
}

func double(f float64) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: f}}
}

func boolean(b bool) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: b}}
}

func array(values ...*commonpb.AnyValue) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: &commonpb.ArrayValue{Values: values}}}
}

func kv(key string, value *commonpb.AnyValue) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: value}
}

func id(span byte) []byte { return []byte{span, 0, 0, 0, 0, 0, 0, 0} }

// TestEncode: the decoder of the protocol reads what went in: each kind of value, and spans by their resource and scope.
func TestEncode(t *testing.T) {
	other := func(span byte, kind trace.SpanKind, code codes.Code, of *resource.Resource, in instrumentation.Scope) sdktrace.ReadOnlySpan {
		return spantest.SpanStub{SpanContext: spanContext(span, false, ""), SpanKind: kind, StartTime: time.Unix(-1, 0), EndTime: began, Status: sdktrace.Status{Code: code}, Resource: of, InstrumentationScope: in}.Snapshot()
	}
	scopeB := instrumentation.Scope{Name: "b"}
	body, err := encode([]sdktrace.ReadOnlySpan{full(), other(5, trace.SpanKindClient, codes.Ok, us, scopeA), other(6, trace.SpanKindInternal, codes.Unset, eu, scopeB), other(7, trace.SpanKindProducer, codes.Unset, eu, scopeA)})
	if err != nil {
		t.Fatal(err)
	}
	got, err := tracetest.Decode(body)
	if err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	plain := func(span byte, kind tracepb.Span_SpanKind, code tracepb.Status_StatusCode) *tracepb.Span {
		return &tracepb.Span{TraceId: traceID[:], SpanId: id(span), Flags: 0x101, Kind: kind, EndTimeUnixNano: uint64(began.UnixNano()), Status: &tracepb.Status{Code: code}}
	}
	inA := &commonpb.InstrumentationScope{Name: "a", Version: "v1", Attributes: []*commonpb.KeyValue{kv("in", boolean(true))}}
	want := &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{
		{
			Resource: &resourcepb.Resource{Attributes: []*commonpb.KeyValue{kv("service.name", str("eu"))}}, SchemaUrl: "https://schema/resource",
			ScopeSpans: []*tracepb.ScopeSpans{
				{Scope: inA, SchemaUrl: "https://schema/scope", Spans: []*tracepb.Span{
					{
						TraceId: traceID[:], SpanId: id(1), ParentSpanId: id(2), TraceState: "vendor=1", Flags: 0x301, Name: "chat <m>", Kind: tracepb.Span_SPAN_KIND_SERVER,
						StartTimeUnixNano: 1_700_000_000_123_456_789, EndTimeUnixNano: 1_700_000_001_123_456_789,
						Attributes: []*commonpb.KeyValue{
							kv("bool", boolean(false)), kv("int", integer(-1<<63)), kv("double", double(0.1)), kv("string", str("")),
							kv("bools", array(boolean(true))), kv("ints", array(integer(1<<62))), kv("strings", array(str("a"), str("b"))),
							kv("doubles", array(double(math.Inf(1)), double(math.Inf(-1)))),
							kv("bytes", &commonpb.AnyValue{Value: &commonpb.AnyValue_BytesValue{BytesValue: []byte{0, 255}}}),
							kv("mixed", array(integer(1), str("a"))),
							kv("map", &commonpb.AnyValue{Value: &commonpb.AnyValue_KvlistValue{KvlistValue: &commonpb.KeyValueList{Values: []*commonpb.KeyValue{kv("k", integer(2))}}}}),
							kv("empty", &commonpb.AnyValue{}),
							kv("\uFFFD", str("\uFFFD")),
						},
						Events: []*tracepb.Span_Event{{Name: "e", TimeUnixNano: 1_700_000_000_123_456_789, Attributes: []*commonpb.KeyValue{kv("n", integer(1))}, DroppedAttributesCount: 4}},
						Links: []*tracepb.Span_Link{{TraceId: traceID[:], SpanId: id(3), TraceState: "l=1", Attributes: []*commonpb.KeyValue{kv("n", integer(1))}, DroppedAttributesCount: 5, Flags: 0x301},
							{TraceId: traceID[:], SpanId: id(4), Flags: 0x101}},
						Status:                 &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: "why"},
						DroppedAttributesCount: 1, DroppedEventsCount: 2, DroppedLinksCount: 3,
					},
					plain(7, tracepb.Span_SPAN_KIND_PRODUCER, tracepb.Status_STATUS_CODE_UNSET),
				}},
				{Scope: &commonpb.InstrumentationScope{Name: "b"}, Spans: []*tracepb.Span{plain(6, tracepb.Span_SPAN_KIND_INTERNAL, tracepb.Status_STATUS_CODE_UNSET)}},
			},
		},
		{
			Resource:   &resourcepb.Resource{Attributes: []*commonpb.KeyValue{kv("service.name", str("us"))}},
			ScopeSpans: []*tracepb.ScopeSpans{{Scope: inA, SchemaUrl: "https://schema/scope", Spans: []*tracepb.Span{plain(5, tracepb.Span_SPAN_KIND_CLIENT, tracepb.Status_STATUS_CODE_OK)}}},
		},
	}}
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

// TestEncodeNaN: what is no number has the name that protobuf gives it; no two of them are equal.
func TestEncodeNaN(t *testing.T) {
	body, err := encode([]sdktrace.ReadOnlySpan{spantest.SpanStub{SpanContext: spanContext(1, false, ""), Attributes: []attribute.KeyValue{attribute.Float64("x", math.NaN())}}.Snapshot()})
	if err != nil {
		t.Fatal(err)
	}
	got, err := tracetest.Decode(body)
	if err != nil || !math.IsNaN(got.ResourceSpans[0].ScopeSpans[0].Spans[0].Attributes[0].Value.GetDoubleValue()) {
		t.Errorf("%v, %v", got, err)
	}
}
