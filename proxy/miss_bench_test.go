package proxy

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkMiss is what this process pays for a miss, without any network: the upstream answers at once, in one piece or as a
// stream of 20 events that come one by one. Each request has a scope of its own, so that no search has much to scan.
//
//	go test ./proxy -run '^$' -bench Miss -benchtime 5000x
func BenchmarkMiss(b *testing.B) {
	for _, stream := range []bool{false, true} {
		b.Run(map[bool]string{false: "object", true: "stream"}[stream], func(b *testing.B) {
			r := newRigAt(b, nil, http.HandlerFunc(instantUpstream), func(o *Options) {
				o.Logger, o.Transport = nil, instantUpstreams{}
				o.Store = fileStoreOf(b, "rac+", filepath.Join(b.TempDir(), "reprise.db"), 100_000)
				b.Cleanup(func() { o.Store.Close() })
			})
			h, rng, w := r.Handler(), rand.New(rand.NewPCG(1, 2)), &discardWriter{header: http.Header{}}
			header := http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer sk-test"}}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				noun := func() string { return nouns[rng.IntN(len(nouns))] }
				body := fmt.Sprintf(`{"model":"m%d","stream":%t,"messages":[{"role":"user","content":"How does the %s of a %s change the %s when a %s and a %s meet?"}]}`,
					i, stream, noun(), noun(), noun(), noun(), noun())
				req, _ := http.NewRequest("POST", "/v1/chat/completions", io.NopCloser(strings.NewReader(body)))
				req.ContentLength, req.Header = int64(len(body)), header.Clone()
				clear(w.header)
				h.ServeHTTP(w, req)
				if w.header.Get("X-Cache") != "miss" {
					b.Fatal(w.header)
				}
			}
		})
	}
}

// instantUpstreams is an upstream without a network, of whole answers and of streams.
type instantUpstreams struct{}

func (instantUpstreams) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	if !bytes.Contains(body, []byte(`"stream":true`)) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}, "Content-Length": {strconv.Itoa(len(upstreamReply))}},
			ContentLength: int64(len(upstreamReply)), Body: io.NopCloser(bytes.NewReader(upstreamReply))}, nil
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, ContentLength: -1,
		Body: io.NopCloser(&eventReader{left: upstreamEvents})}, nil
}

// upstreamEvents are a chat answer as a stream of 20 chunks.
var upstreamEvents = func() (events []string) {
	chunk := func(delta, finish string) {
		events = append(events, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"gpt-4o","choices":[{"index":0,"delta":`+
			delta+`,"logprobs":null,"finish_reason":`+finish+"}]}\n\n")
	}
	chunk(`{"role":"assistant","content":""}`, "null")
	for range 18 {
		chunk(`{"content":" all work"}`, "null")
	}
	chunk(`{}`, `"stop"`)
	return append(events, "data: [DONE]\n\n")
}()

// eventReader reads one event at a time.
type eventReader struct{ left []string }

func (e *eventReader) Read(p []byte) (int, error) {
	if len(e.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p, e.left[0])
	e.left = e.left[1:]
	return n, nil
}

// discardWriter is a ResponseWriter of a client whose connection takes everything.
type discardWriter struct{ header http.Header }

func (w *discardWriter) Header() http.Header         { return w.header }
func (w *discardWriter) Write(p []byte) (int, error) { return len(p), nil }
func (w *discardWriter) WriteHeader(int)             {}
func (w *discardWriter) Flush()                      {}

func (w *discardWriter) SetReadDeadline(time.Time) error  { return nil }
func (w *discardWriter) SetWriteDeadline(time.Time) error { return nil }
