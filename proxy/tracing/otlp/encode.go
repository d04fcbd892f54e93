package otlp

import (
	"encoding/json"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// The types below are the messages of opentelemetry/proto/trace/v1 in the JSON mapping that OTLP prescribes: names in camel case, ids in
// hexadecimal digits, 64-bit integers as strings, enumerations as numbers. A field that has its zero value is left out, and so is what no span of
// package tracing has, such as attributes of events and of links.
// See https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding.
type (
	request struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}

	resourceSpans struct {
		Resource   resourceOf   `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
		SchemaURL  string       `json:"schemaUrl,omitempty"`
	}

	resourceOf struct {
		Attributes []keyValue `json:"attributes,omitempty"`
	}

	scopeSpans struct {
		Scope scope  `json:"scope"`
		Spans []span `json:"spans"`
	}

	scope struct {
		Name string `json:"name,omitempty"`
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
		DroppedAttributes int           `json:"droppedAttributesCount,omitempty"`
		Events            []event       `json:"events,omitempty"`
		DroppedEvents     int           `json:"droppedEventsCount,omitempty"`
		Links             []link        `json:"links,omitempty"`
		DroppedLinks      int           `json:"droppedLinksCount,omitempty"`
		Status            status        `json:"status"`
	}

	event struct {
		Time uint64 `json:"timeUnixNano,string"`
		Name string `json:"name,omitempty"`
	}

	link struct {
		TraceID trace.TraceID `json:"traceId"`
		SpanID  trace.SpanID  `json:"spanId"`
		Flags   uint32        `json:"flags"`
	}

	status struct {
		Message string `json:"message,omitempty"`
		Code    int    `json:"code,omitempty"`
	}

	// keyValue has a value with one member, named by its type: {"intValue": "1"}.
	keyValue struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"`
	}
)

// encode returns a request with the spans of one tracer: at least one.
func encode(spans []sdktrace.ReadOnlySpan) ([]byte, error) {
	about, in := spans[0].Resource(), scopeSpans{Scope: scope{spans[0].InstrumentationScope().Name}}
	for _, s := range spans {
		in.Spans = append(in.Spans, encodeSpan(s))
	}
	return json.Marshal(request{[]resourceSpans{{resourceOf{encodeAttributes(about.Attributes())}, []scopeSpans{in}, about.SchemaURL()}}})
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
		DroppedAttributes: s.DroppedAttributes(),
		DroppedEvents:     s.DroppedEvents(),
		DroppedLinks:      s.DroppedLinks(),
		Status:            encodeStatus(s.Status()),
	}
	if parent.SpanID().IsValid() {
		out.ParentSpanID = parent.SpanID().String()
	}
	for _, e := range s.Events() {
		out.Events = append(out.Events, event{nanoseconds(e.Time), e.Name})
	}
	for _, l := range s.Links() {
		to := l.SpanContext
		out.Links = append(out.Links, link{to.TraceID(), to.SpanID(), flags(to.TraceFlags(), to)})
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

func encodeAttributes(all []attribute.KeyValue) []keyValue {
	out := make([]keyValue, len(all))
	for i, kv := range all {
		switch v := kv.Value; v.Type() {
		case attribute.BOOL:
			out[i] = keyValue{string(kv.Key), map[string]any{"boolValue": v.AsBool()}}
		case attribute.INT64:
			out[i] = keyValue{string(kv.Key), map[string]any{"intValue": strconv.FormatInt(v.AsInt64(), 10)}}
		default: // no span has another type than a string
			out[i] = keyValue{string(kv.Key), map[string]any{"stringValue": v.String()}}
		}
	}
	return out
}
