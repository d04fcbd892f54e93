package proxy

import (
	"io"
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
	n      int
}

func (w *quietWriter) Header() http.Header              { return w.header }
func (w *quietWriter) WriteHeader(status int)           { w.status = status }
func (w *quietWriter) Write(p []byte) (int, error)      { w.n += len(p); return len(p), nil }
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

// BenchmarkHandler is what the proxy itself takes for a request, without net/http's server and without a network: an exact hit, and
// a request that passes through.
func BenchmarkHandler(b *testing.B) {
	r := newRigAt(b, nil, http.NotFoundHandler(), func(o *Options) {
		o.Logger, o.Transport, o.Store = nil, shortAnswers{}, fileStoreOf(b, "rac+", filepath.Join(b.TempDir(), "reprise.db"), 1000)
		b.Cleanup(func() { o.Store.Close() })
	})
	body := chat("What is the capital of France?")
	r.ask(b, "/v1/chat/completions", body)
	for _, one := range []struct{ name, path string }{{"exact", "/v1/chat/completions"}, {"pass", "/v1/moderations"}} {
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
				req.Body, req.ContentLength = &wholeBody{body}, int64(len(body))
				clear(w.header)
				h.ServeHTTP(w, &req)
				if w.status != http.StatusOK {
					b.Fatal(w.status)
				}
			}
		})
	}
}

// shortAnswers is an upstream without a network, whose answers have some 1.2 KB.
type shortAnswers struct{}

var shortAnswer = `{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"` +
	strings.Repeat("All work and no play. ", 41) + `"},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":90,"total_tokens":110}}`

func (shortAnswers) RoundTrip(r *http.Request) (*http.Response, error) {
	io.Copy(io.Discard, r.Body)
	return &http.Response{StatusCode: 200, ContentLength: int64(len(shortAnswer)), Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(shortAnswer))}, nil
}
