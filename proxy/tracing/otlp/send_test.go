package otlp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	spantest "go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// answers is a collector that gives one answer after the other: a status, with what Retry-After says. It gives the last one again and again.
type answers struct {
	given []string // "STATUS" or "STATUS RETRY-AFTER"; "timeout": there is none
	asked int
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	status, after, _ := strings.Cut(a.given[min(a.asked, len(a.given)-1)], " ")
	a.asked++
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	switch body, _ := io.ReadAll(r.Body); {
	case status == "timeout":
		return nil, context.DeadlineExceeded
	case len(body) != int(r.ContentLength) || len(body) < 100:
		return nil, errors.New("the body is not sent again")
	}
	w := &http.Response{StatusCode: map[string]int{"200": 200, "400": 400, "429": 429, "502": 502, "503": 503, "504": 504}[status],
		Header: http.Header{"Retry-After": {after}}, Body: io.NopCloser(strings.NewReader("secret"))}
	return w, nil
}

// TestRetries: what may pass is tried again until a minute or the time of a batch is over, at the earliest when the collector asks for it.
func TestRetries(t *testing.T) {
	for _, tc := range []struct {
		name     string
		answers  string
		limit    time.Duration
		want     string // the error
		asked    int
		min, max time.Duration
	}{
		{"at once", "200", time.Minute, "", 1, 0, 0},
		{"not again", "400|200", time.Minute, "the collector answers 400 Bad Request", 1, 0, 0},
		{"again", "429|502|503|504|200", time.Hour, "", 5, 20 * time.Second, 62 * time.Second},
		{"no answer", "timeout|200", time.Hour, "", 2, 2500 * time.Millisecond, 7500 * time.Millisecond},
		{"asks for seconds", "503 50|200", time.Hour, "", 2, 50 * time.Second, 50 * time.Second},
		{"asks for a date", "503 Sat, 01 Jan 2000 00:00:40 GMT|200", time.Hour, "", 2, 40 * time.Second, 40 * time.Second},
		{"asks for too much", "503 61|200", time.Hour, "the collector answers 503 Service Unavailable", 1, 0, 0},
		{"asks for an age", "503 99999999999999999999|200", time.Hour, "", 2, 2500 * time.Millisecond, 7500 * time.Millisecond},
		{"lasts", "503", time.Hour, "the collector answers 503 Service Unavailable", 0, time.Minute, 105 * time.Second},
		{"longer than the batch has", "503 30|200", 10 * time.Second, "the collector answers 503 Service Unavailable", 1, 10 * time.Second, 10 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				collector := &answers{given: strings.Split(tc.answers, "|")}
				got := ""
				s := newSender(target{url: "http://collector/v1/traces"}, "v1", func(err error) { got = err.Error() })
				s.client.Transport = collector
				ctx, cancel := context.WithTimeout(t.Context(), tc.limit)
				defer cancel()
				began := time.Now()
				if err := s.ExportSpans(ctx, []sdktrace.ReadOnlySpan{spantest.SpanStub{Name: "a"}.Snapshot()}); err != nil {
					t.Errorf("the library gets %v", err)
				}
				if took := time.Since(began); got != tc.want || took < tc.min || took > tc.max || tc.asked > 0 && collector.asked != tc.asked {
					t.Errorf("%q after %d attempts in %v", got, collector.asked, took)
				}
			})
		})
	}
}

// TestStopped: a stop ends the wait for another attempt, without an error.
func TestStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSender(target{url: "http://collector/v1/traces"}, "v1", func(err error) { t.Error(err) })
		s.client.Transport = &answers{given: []string{"503 30"}}
		time.AfterFunc(time.Second, s.stop)
		began := time.Now()
		s.ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{spantest.SpanStub{Name: "a"}.Snapshot()})
		if took := time.Since(began); took != time.Second {
			t.Errorf("it took %v", took)
		}
	})
}
