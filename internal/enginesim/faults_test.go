package enginesim

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const (
	askWhole  = `{"model":"gpt-4o","messages":[{"role":"user","content":"Why?"}]}`
	askStream = `{"model":"gpt-4o","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"Why?"}]}`
)

// fetched is an answer as its client got it.
type fetched struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body
}

func fetch(t *testing.T, url, path, body, fault string) fetched {
	t.Helper()
	req, err := http.NewRequest("POST", url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(FaultHeader, fault)
	req.Header.Set("Accept-Encoding", "identity")
	resp, err := http.DefaultTransport.RoundTrip(req) // follows no redirects
	if err != nil {
		return fetched{err: err}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return fetched{resp.StatusCode, resp.Header, string(b), err}
}

func (f fetched) done() bool { return strings.HasSuffix(f.body, "data: [DONE]\n\n") }

func TestFaultsOnTheWire(t *testing.T) {
	_, url := serve(t, Options{})
	good := fetch(t, url, "/v1/chat/completions", askWhole, "")
	stream := fetch(t, url, "/v1/chat/completions", askStream, "")
	tests := []struct {
		name, fault, ask string
		ok               func(f fetched) bool
	}{
		{"none", "", askStream, func(f fetched) bool { return f.err == nil && f.done() }},
		{"status", "status=503, retry-after=2", askWhole, func(f fetched) bool {
			return f.status == 503 && f.header.Get("Retry-After") == "2" && strings.Contains(f.body, `"type":"server_error"`)
		}},
		{"rate limit", "status=429", askStream, func(f fetched) bool { return f.status == 429 && strings.Contains(f.body, "rate_limit_exceeded") }},
		{"html", "body=<html>sorry</html>", askWhole, func(f fetched) bool {
			return f.status == 200 && strings.HasPrefix(f.header.Get("Content-Type"), "text/html")
		}},
		{"cut whole", "cut=50", askWhole, func(f fetched) bool { return f.err != nil && len(f.body) == 50 }},
		{"cut stream", "cut=300", askStream, func(f fetched) bool { return f.err != nil && len(f.body) == 300 }},
		{"cut after headers", "cut=0", askStream, func(f fetched) bool { return f.status == 200 && f.err != nil && f.body == "" }},
		{"cut after events", "cut-events=3", askStream, func(f fetched) bool { return f.err != nil && strings.Count(f.body, "data: ") == 3 }},
		{"malformed chunk", "malformed", askStream, func(f fetched) bool { return f.done() && brokenEvents(f.body) == 1 }},
		{"malformed body", "malformed", askWhole, func(f fetched) bool { return f.err == nil && !json.Valid([]byte(f.body)) }},
		{"error event", "error-event", askStream, func(f fetched) bool {
			return f.status == 200 && strings.Contains(f.body, `{"error":{`) && strings.Count(f.body, "data: ") == 4
		}},
		{"error event later", "error-event,cut-events=5,no-done", askStream, func(f fetched) bool {
			return f.err == nil && strings.Count(f.body, "data: ") == 6 && !f.done()
		}},
		{"no terminal event", "no-done", askStream, func(f fetched) bool {
			return f.err == nil && !f.done() && !strings.Contains(f.body, `"finish_reason":"stop"`)
		}},
		{"no usage", "no-usage", askWhole, func(f fetched) bool { return f.status == 200 && !strings.Contains(f.body, "usage") }},
		{"no usage in a stream", "no-usage", askStream, func(f fetched) bool { return f.done() && !strings.Contains(f.body, "total_tokens") }},
		{"CRLF", "crlf", askStream, func(f fetched) bool {
			return strings.Count(f.body, "\n") == strings.Count(f.body, "\r\n") && events(f.body) == events(stream.body)
		}},
		{"comments", "comments", askStream, func(f fetched) bool {
			return strings.Count(f.body, "\n\n: ") > 3 && events(f.body) == events(stream.body)
		}},
		{"bytes", "split", askStream, func(f fetched) bool { return f.err == nil && events(f.body) == events(stream.body) }},
		{"huge event", "huge=1048576", askStream, func(f fetched) bool { return len(f.body) > 1<<20 && brokenEvents(f.body) == 0 }},
		{"length too long", "wrong-length=7", askWhole, func(f fetched) bool { return f.err != nil }},
		{"length too short", "wrong-length=-7", askWhole, func(f fetched) bool { return len(f.body) == len(good.body)-7 }},
		{"gzip", "gzip", askStream, func(f fetched) bool {
			return f.header.Get("Content-Encoding") == "gzip" && events(unzip(f.body)) == events(stream.body)
		}},
		{"finish reason", "finish=content_filter", askWhole, func(f fetched) bool { return strings.Contains(f.body, `"finish_reason":"content_filter"`) }},
		{"refusal", "refusal=I cannot help.", askWhole, func(f fetched) bool {
			return strings.Contains(f.body, `"content":null,"refusal":"I cannot help."`)
		}},
		{"unknown", "explode", askWhole, func(f fetched) bool { return f.status == 400 && strings.Contains(f.body, "wrong-length") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if f := fetch(t, url, "/v1/chat/completions", tt.ask, tt.fault); !tt.ok(f) {
				t.Errorf("got %d %v %v\n%s", f.status, f.header, f.err, f.body)
			}
		})
	}
}

// events is the number of events of a stream.
func events(body string) int { return strings.Count(body, "data: ") }

// brokenEvents is the number of those that are not JSON.
func brokenEvents(body string) int {
	n := 0
	for line := range strings.Lines(body) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if ok && data != "[DONE]" && !json.Valid([]byte(data)) {
			n++
		}
	}
	return n
}

func unzip(body string) string {
	z, err := gzip.NewReader(bytes.NewReader([]byte(body)))
	if err != nil {
		return err.Error()
	}
	b, _ := io.ReadAll(z)
	return string(b)
}

func TestResponsesFaults(t *testing.T) {
	_, url := serve(t, Options{})
	ask := `{"model":"gpt-4o","stream":true,"input":"Why?"}`
	tests := []struct{ fault, has, lacks string }{
		{"error-event", "event: response.failed", "response.completed"},
		{"error-event,cut-events=6", "event: error", "response.completed"},
		{"error-event,no-done", "event: error", "response.failed"},
		{"no-done", "response.output_item.done", "response.completed"},
		{"finish=length", `"incomplete_details":{"reason":"max_output_tokens"}`, "response.completed"},
		{"finish=content_filter", `"incomplete_details":{"reason":"content_filter"}`, "response.completed"},
		{"refusal=No.", "event: response.refusal.done", "output_text"},
	}
	for _, tt := range tests {
		t.Run(tt.fault, func(t *testing.T) {
			f := fetch(t, url, "/v1/responses", ask, tt.fault)
			if f.err != nil || !strings.Contains(f.body, tt.has) || strings.Contains(f.body, tt.lacks) {
				t.Errorf("want %s and no %s (%v):\n%s", tt.has, tt.lacks, f.err, f.body)
			}
		})
	}
}

func TestSilenceLastsUntilTheClientLeaves(t *testing.T) {
	for _, fault := range []string{"silence", "silence,cut=100", "silence,cut-events=2", "delay=24h"} {
		t.Run(fault, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { testSilence(t, fault) }) })
	}
}

func testSilence(t *testing.T, fault string) {
	e := New(Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	start := time.Now()
	serveDirect(ctx, e, askStream, fault)
	if waited := time.Since(start); waited != time.Hour {
		t.Errorf("was silent for %v, want the client's hour", waited)
	}
	if s := e.Stats(); s.Cancelled != 1 || s.InFlight != 0 {
		t.Errorf("stats %+v", s)
	}
}

func TestFaultOption(t *testing.T) {
	calls := 0
	_, url := serve(t, Options{Fault: func(*http.Request) Fault {
		calls++
		if calls == 1 {
			return Fault{Status: http.StatusInternalServerError}
		}
		return Fault{}
	}})
	for i, want := range []int{500, 200} {
		if f := fetch(t, url, "/v1/chat/completions", askWhole, ""); f.status != want {
			t.Errorf("request %d: status %d, want %d", i+1, f.status, want)
		}
	}
}

func TestParseFault(t *testing.T) {
	tests := []struct{ in, wrong string }{
		{"", ""}, {" , ", ""}, {"status=503,retry-after=2", ""}, {"cut=0", ""}, {"wrong-length=-3", ""},
		{"nothing", `unknown fault "nothing"`}, {"status=5", "from 200 to 999"}, {"status", "want a number"}, {"delay=5", "want a duration"},
		{"delay=-5s", "want a duration"}, {"split=1", "takes no value"}, {"cut=-1", "from 0"},
	}
	for _, tt := range tests {
		_, err := parseFault(tt.in)
		if (err == nil) != (tt.wrong == "") || (err != nil && !strings.Contains(err.Error(), tt.wrong)) {
			t.Errorf("parseFault(%q): %v, want %q", tt.in, err, tt.wrong)
		}
	}
}

func FuzzParseFault(f *testing.F) {
	for _, s := range []string{"status=503, retry-after=2", "cut=0", "delay=5s,split", "=,="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := parseFault(s)
		if err == nil && (got.Status != 0 && got.Status < 200 || got.Delay < 0 || got.CutEvents < 0) {
			t.Errorf("%q gives %+v", s, got)
		}
	})
}

// serveDirect runs a chat request without a network and returns its body. A cut connection is no panic here.
func serveDirect(ctx context.Context, e *Engine, body, fault string) string {
	r, w := newDirect(ctx, body, fault)
	defer func() {
		if p := recover(); p != nil && !errors.Is(p.(error), http.ErrAbortHandler) {
			panic(p)
		}
	}()
	e.ServeHTTP(w, r)
	return w.Body.String()
}
