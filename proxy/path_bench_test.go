package proxy

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reprise/proxy/tracing/otlp"
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

// bareServer calls the handler of a rig without net/http's server and without a network, with an upstream that answers at once: what is
// measured is the proxy's own. Its store is in a file.
type bareServer struct {
	*rig
	h http.Handler
	w quietWriter
}

func newBareServer(b *testing.B, adjust ...func(*Options)) *bareServer {
	r := newRigAt(b, nil, http.NotFoundHandler(), append(adjust, func(o *Options) {
		o.Logger, o.Transport = nil, instantTransport{}
		o.Store = fileStoreOf(b, "rac+", filepath.Join(b.TempDir(), "reprise.db"), 100_000)
		b.Cleanup(func() { o.Store.Close() })
	})...)
	return &bareServer{r, r.Handler(), quietWriter{header: http.Header{}}}
}

// post wants a status of 200, and returns X-Cache.
func (s *bareServer) post(b *testing.B, path, body, namespace string) string {
	req, err := http.NewRequest("POST", "http://localhost"+path, nil)
	if err != nil {
		b.Fatal(err)
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer sk-test"}, "X-Reprise-Namespace": {namespace}}
	req.Body, req.ContentLength = &wholeBody{body}, int64(len(body))
	clear(s.w.header)
	if s.h.ServeHTTP(&s.w, req); s.w.status != http.StatusOK {
		b.Fatal(s.w.status)
	}
	return s.w.header.Get("X-Cache")
}

// BenchmarkHandler is what the proxy itself takes for a request: an exact hit, one that is a stream, one whose answer was stored as an object
// and goes out as a stream, one the other way round, a request that passes through, and a miss, whose answer comes in one piece or as a stream of 20 events. Each miss has a scope of its
// own, so that no search has much to scan.
func BenchmarkHandler(b *testing.B) {
	const path = "/v1/chat/completions"
	s := newBareServer(b)
	plain, stream := chat(capital), chat("What is the capital of Spain?", `"stream":true`)
	s.post(b, path, plain, "n")
	s.post(b, path, stream, "n")
	misses := 0
	for _, one := range []struct{ name, path, body, want string }{{"exact", path, plain, "exact"}, {"exact-stream", path, stream, "exact"},
		{"exact-converted", path, chat(capital, `"stream":true`), "exact"}, {"exact-merged", path, chat("What is the capital of Spain?"), "exact"}, {"pass", "/v1/moderations", plain, "bypass"},
		{"miss", path, plain, "miss"}, {"miss-stream", path, stream, "miss"}} {
		b.Run(one.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				namespace := "n"
				if one.want == "miss" {
					misses++
					namespace = utoa(uint64(misses))
				}
				if got := s.post(b, one.path, one.body, namespace); got != one.want {
					b.Fatal(got)
				}
			}
		})
	}
}

// BenchmarkTraces is the same for an exact hit and for a miss, without traces, with those of one request in a hundred, and with those of each.
// Runs that take turns show what a part in a hundred is:
//
//	go test ./proxy -run '^$' -bench 'Traces/exact' -benchtime 20000x -count 10
func BenchmarkTraces(b *testing.B) {
	for _, load := range []string{"exact", "miss"} {
		for _, share := range []string{"", "0.01", "1"} {
			b.Run(load+"/share="+share, func(b *testing.B) {
				b.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", map[bool]string{true: "http://127.0.0.1:1"}[share != ""])
				b.Setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
				b.Setenv("OTEL_TRACES_SAMPLER_ARG", share)
				settings, _ := otlp.Read(os.Environ())
				e := otlp.Start(settings, "", func(error) {})
				b.Cleanup(func() { e.Close(time.Millisecond) })
				s := newBareServer(b, func(o *Options) { o.Tracer = e.Tracer() })
				s.post(b, "/v1/chat/completions", chat(capital), "n")
				b.ReportAllocs()
				for n := uint64(1); b.Loop(); n++ {
					namespace := "n"
					if load == "miss" {
						namespace = utoa(n)
					}
					s.post(b, "/v1/chat/completions", chat(capital), namespace)
				}
			})
		}
	}
}
