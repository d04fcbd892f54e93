package proxy

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// quietWriter is a ResponseWriter without a connection: what is measured with it is the proxy's own.
type quietWriter struct {
	header http.Header
	status int
}

func (w *quietWriter) Header() http.Header              { return w.header }
func (w *quietWriter) WriteHeader(status int)           { w.status = status }
func (w *quietWriter) Write(p []byte) (int, error)      { return len(p), nil }
func (w *quietWriter) SetReadDeadline(time.Time) error  { return nil }
func (w *quietWriter) SetWriteDeadline(time.Time) error { return nil }
func (w *quietWriter) EnableFullDuplex() error          { return nil }
func (w *quietWriter) Flush()                           {}

// wholeBody is the body of a request, whose end comes with its bytes as in net/http's server.
type wholeBody struct{ rest string }

func (b *wholeBody) Close() error { return nil }
func (b *wholeBody) Read(p []byte) (int, error) {
	n := copy(p, b.rest)
	if b.rest = b.rest[n:]; b.rest == "" {
		return n, io.EOF
	}
	return n, nil
}

// BenchmarkHandler is what the proxy itself takes for a request, without net/http's server and without a network: an exact hit, one
// that is a stream, one whose answer was stored in the other form, and a request that passes through.
func BenchmarkHandler(b *testing.B) {
	r := newRigAt(b, nil, http.NotFoundHandler(), func(o *Options) {
		o.Logger, o.Transport, o.Store = nil, instantTransport{}, fileStoreOf(b, "rac+", filepath.Join(b.TempDir(), "reprise.db"), 1000)
		b.Cleanup(func() { o.Store.Close() })
	})
	plain, stream := chat("What is the capital of France?"), chat("What is the capital of Spain?", `"stream":true`)
	r.ask(b, "/v1/chat/completions", plain)
	r.ask(b, "/v1/chat/completions", stream)
	for _, one := range []struct{ name, path, body string }{{"exact", "/v1/chat/completions", plain}, {"exact-stream", "/v1/chat/completions", stream},
		{"exact-converted", "/v1/chat/completions", chat("What is the capital of France?", `"stream":true`)}, {"pass", "/v1/moderations", plain}} {
		b.Run(one.name, func(b *testing.B) {
			h := r.Handler()
			template, err := http.NewRequest("POST", r.api.URL+one.path, nil)
			if err != nil {
				b.Fatal(err)
			}
			template.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer sk-test"}, "Content-Length": {"91"}}
			w := &quietWriter{header: http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				req := *template
				req.Body, req.ContentLength = &wholeBody{one.body}, int64(len(one.body))
				clear(w.header)
				h.ServeHTTP(w, &req)
				if w.status != http.StatusOK {
					b.Fatal(w.status)
				}
			}
		})
	}
}

// BenchmarkMiss is what this process pays for a miss, without any network: the upstream answers at once, in one piece or as a
// stream of 20 events that come one by one. Each request has a scope of its own, so that no search has much to scan.
//
//	go test ./proxy -run '^$' -bench Miss -benchtime 5000x
func BenchmarkMiss(b *testing.B) {
	for _, stream := range []bool{false, true} {
		b.Run(map[bool]string{false: "object", true: "stream"}[stream], func(b *testing.B) {
			r := newRigAt(b, nil, http.HandlerFunc(instantUpstream), func(o *Options) {
				o.Logger, o.Transport = nil, instantTransport{}
				o.Store = fileStoreOf(b, "rac+", filepath.Join(b.TempDir(), "reprise.db"), 100_000)
				b.Cleanup(func() { o.Store.Close() })
			})
			h, rng, w := r.Handler(), rand.New(rand.NewPCG(1, 2)), &quietWriter{header: http.Header{}}
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
