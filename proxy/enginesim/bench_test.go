package enginesim

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// BenchmarkChat answers a small prompt without a network.
func BenchmarkChat(b *testing.B) {
	for _, mode := range []struct{ name, body string }{{"whole", askWhole}, {"stream", askStream}} {
		b.Run(mode.name, func(b *testing.B) {
			e := New(Options{})
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					r := httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(mode.body))
					e.ServeHTTP(httptest.NewRecorder(), r)
				}
			})
		})
	}
}

// BenchmarkLoopback measures the rate of the engine over kept connections, and that of a handler that only reads and echoes.
func BenchmarkLoopback(b *testing.B) {
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	for _, h := range []struct {
		name    string
		handler http.Handler
	}{{"engine", New(Options{})}, {"echo", echo}} {
		b.Run(h.name, func(b *testing.B) { benchLoopback(b, h.handler) })
	}
}

func benchLoopback(b *testing.B, h http.Handler) {
	s := httptest.NewServer(h)
	defer s.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			resp, err := client.Post(s.URL+"/v1/chat/completions", "application/json", strings.NewReader(askWhole))
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
}
