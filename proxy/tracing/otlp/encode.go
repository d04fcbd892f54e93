package otlp

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// The types below are the messages of opentelemetry/proto/trace/v1 in the JSON mapping that OTLP prescribes: names in camel case, ids in
// hexadecimal digits, 64-bit integers as strings, enumerations as numbers. A field that has its zero value is left out.
// See https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding.
type (
	request struct {
		ResourceSpans []*resourceSpans `json:"resourceSpans"`
	}

	resourceSpans struct {
		Resource   resourceOf    `json:"resource"`
		ScopeSpans []*scopeSpans `json:"scopeSpans"`
		SchemaURL  string        `json:"schemaUrl,omitempty"`
	}

	resourceOf struct {
		Attributes []keyValue `json:"attributes,omitempty"`
	}

	scopeSpans struct {
		Scope     scope  `json:"scope"`
		Spans     []span `json:"spans"`
		SchemaURL string `json:"schemaUrl,omitempty"`
	}

	scope struct {
		Name       string     `json:"name,omitempty"`
		Version    string     `json:"version,omitempty"`
		Attributes []keyValue `json:"attributes,omitempty"`
	}

	span struct {
		TraceID           trace.TraceID `json:"traceId"`
		SpanID            trace.SpanID  `json:"spanId"`
		TraceState        string        `json:"traceState,omitempty"`
		ParentSpanID      string        `json:"parentSpanId,omitempty"`
		Flags             uint32        `json:"flags"`
		Name              string        `json:"name,omitempty"`
		Kind              int           `json:"kind,omitempty"`
		Start             uint64        `json:"startTimeUnixNano,string"`
		End               uint64        `json:"endTimeUnixNano,string"`
		Attributes        []keyValue    `json:"attributes,omitempty"`
		DroppedAttributes uint32        `json:"droppedAttributesCount,omitempty"`
		Events            []event       `json:"events,omitempty"`
		DroppedEvents     uint32        `json:"droppedEventsCount,omitempty"`
		Links             []link        `json:"links,omitempty"`
		DroppedLinks      uint32        `json:"droppedLinksCount,omitempty"`
		Status            status        `json:"status"`
	}

	event struct {
		Time              uint64     `json:"timeUnixNano,string"`
		Name              string     `json:"name,omitempty"`
		Attributes        []keyValue `json:"attributes,omitempty"`
		DroppedAttributes uint32     `json:"droppedAttributesCount,omitempty"`
	}

	link struct {
		TraceID           trace.TraceID `json:"traceId"`
		SpanID            trace.SpanID  `json:"spanId"`
		TraceState        string        `json:"traceState,omitempty"`
		Attributes        []keyValue    `json:"attributes,omitempty"`
		DroppedAttributes uint32        `json:"droppedAttributesCount,omitempty"`
		Flags             uint32        `json:"flags"`
	}

	status struct {
		Message string `json:"message,omitempty"`
		Code    int    `json:"code,omitempty"`
	}

	keyValue struct {
		Key   string   `json:"key"`
		Value anyValue `json:"value"`
	}

	// anyValue has one member, named by the type of the value: {"intValue": "1"}. An empty one has none.
	anyValue map[string]any

	arrayValue struct {
		Values []anyValue `json:"values"`
	}

	keyValueList struct {
		Values []keyValue `json:"values"`
	}
)

// encode returns a request with the spans, grouped by their resource and by their scope.
func encode(spans []sdktrace.ReadOnlySpan) ([]byte, error) {
	type scopeKey struct {
		resource attribute.Distinct
		scope    instrumentation.Scope
	}
	var out request
	resources, scopes := map[attribute.Distinct]*resourceSpans{}, map[scopeKey]*scopeSpans{}
	for _, s := range spans {
		about, in := s.Resource(), s.InstrumentationScope()
		key := scopeKey{about.Equivalent(), in}
		byResource := resources[key.resource]
		if byResource == nil {
			byResource = &resourceSpans{Resource: encodeResource(about), SchemaURL: about.SchemaURL()}
			resources[key.resource] = byResource
			out.ResourceSpans = append(out.ResourceSpans, byResource)
		}
		byScope := scopes[key]
		if byScope == nil {
			byScope = &scopeSpans{Scope: scope{in.Name, in.Version, encodeAttributes(in.Attributes.ToSlice())}, SchemaURL: in.SchemaURL}
			scopes[key] = byScope
			byResource.ScopeSpans = append(byResource.ScopeSpans, byScope)
		}
		byScope.Spans = append(byScope.Spans, encodeSpan(s))
	}
	return json.Marshal(out)
}

func encodeResource(r *resource.Resource) resourceOf {
	return resourceOf{encodeAttributes(r.Attributes())}
}

func encodeSpan(s sdktrace.ReadOnlySpan) span {
	id, parent := s.SpanContext(), s.Parent()
	out := span{
		TraceID:           id.TraceID(),
		SpanID:            id.SpanID(),
		TraceState:        id.TraceState().String(),
		Flags:             flags(id.TraceFlags(), parent),
		Name:              s.Name(),
		Kind:              int(s.SpanKind()), // the library's numbers are OTLP's
		Start:             nanoseconds(s.StartTime()),
		End:               nanoseconds(s.EndTime()),
		Attributes:        encodeAttributes(s.Attributes()),
		DroppedAttributes: count(s.DroppedAttributes()),
		DroppedEvents:     count(s.DroppedEvents()),
		DroppedLinks:      count(s.DroppedLinks()),
		Status:            encodeStatus(s.Status()),
	}
	if parent.SpanID().IsValid() {
		out.ParentSpanID = parent.SpanID().String()
	}
	for _, e := range s.Events() {
		out.Events = append(out.Events, event{nanoseconds(e.Time), e.Name, encodeAttributes(e.Attributes), count(e.DroppedAttributeCount)})
	}
	for _, l := range s.Links() {
		to := l.SpanContext
		out.Links = append(out.Links, link{to.TraceID(), to.SpanID(), to.TraceState().String(), encodeAttributes(l.Attributes), count(l.DroppedAttributeCount), flags(to.TraceFlags(), to)})
	}
	return out
}

// flags returns W3C's flags, and in bits 8 and 9 that it is known whether a context came from another process, and that it did.
func flags(w3c trace.TraceFlags, from trace.SpanContext) uint32 {
	f := uint32(w3c) | 1<<8
	if from.IsRemote() {
		f |= 1 << 9
	}
	return f
}

// encodeStatus maps the status; the library numbers Error 1 and Ok 2, OTLP the other way round.
func encodeStatus(s sdktrace.Status) status {
	switch s.Code {
	case codes.Ok:
		return status{s.Description, 1}
	case codes.Error:
		return status{s.Description, 2}
	}
	return status{Message: s.Description}
}

func nanoseconds(t time.Time) uint64 { return uint64(max(t.UnixNano(), 0)) }

func count(n int) uint32 { return uint32(min(max(n, 0), math.MaxUint32)) }

func encodeAttributes(all []attribute.KeyValue) []keyValue {
	out := make([]keyValue, len(all))
	for i, kv := range all {
		out[i] = keyValue{string(kv.Key), encodeValue(kv.Value)}
	}
	return out
}

func encodeValue(v attribute.Value) anyValue {
	switch v.Type() {
	case attribute.EMPTY:
		return anyValue{}
	case attribute.BOOL:
		return anyValue{"boolValue": v.AsBool()}
	case attribute.INT64:
		return anyValue{"intValue": strconv.FormatInt(v.AsInt64(), 10)}
	case attribute.FLOAT64:
		return anyValue{"doubleValue": encodeDouble(v.AsFloat64())}
	case attribute.BYTESLICE:
		return anyValue{"bytesValue": v.AsByteSlice()} // in base64
	case attribute.BOOLSLICE:
		return encodeArray(v.AsBoolSlice(), attribute.BoolValue)
	case attribute.INT64SLICE:
		return encodeArray(v.AsInt64Slice(), attribute.Int64Value)
	case attribute.FLOAT64SLICE:
		return encodeArray(v.AsFloat64Slice(), attribute.Float64Value)
	case attribute.STRINGSLICE:
		return encodeArray(v.AsStringSlice(), attribute.StringValue)
	case attribute.SLICE:
		return encodeArray(v.AsSlice(), func(v attribute.Value) attribute.Value { return v })
	case attribute.MAP:
		return anyValue{"kvlistValue": keyValueList{encodeAttributes(v.AsMap())}}
	}
	return anyValue{"stringValue": v.AsString()}
}

func encodeArray[T any](items []T, value func(T) attribute.Value) anyValue {
	values := make([]anyValue, len(items))
	for i, item := range items {
		values[i] = encodeValue(value(item))
	}
	return anyValue{"arrayValue": arrayValue{values}}
}

// encodeDouble returns a number, or the name that protobuf's JSON mapping has for what is none.
func encodeDouble(f float64) any {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return f
}
