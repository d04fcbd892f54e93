package proxy

import (
	"net/http"
	"os"
	"testing"
	"time"

	"reprise/proxy/tracing/otlp"
)

// BenchmarkTraces is what the proxy itself takes for an exact hit and for a miss, without traces, with those of one request in a hundred, and with
// those of each, without any network. Runs that take turns show what a part in a hundred is:
//
//	go test ./proxy -run '^$' -bench 'Traces/exact' -benchtime 20000x -count 10
func BenchmarkTraces(b *testing.B) {
	for _, load := range []string{"exact", "miss"} {
		for _, share := range []string{"", "0.01", "1"} {
			b.Run(load+"/share="+share, func(b *testing.B) {
				h, w := traceBench(b, share).Handler(), &quietWriter{header: http.Header{}}
				ask := func(body string, namespace string) {
					req, err := http.NewRequest("POST", "http://localhost/v1/chat/completions", nil)
					if err != nil {
						b.Fatal(err)
					}
					req.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer sk-test"}, "X-Reprise-Namespace": {namespace}}
					req.Body, req.ContentLength = &wholeBody{body}, int64(len(body))
					clear(w.header)
					if h.ServeHTTP(w, req); w.status != http.StatusOK {
						b.Fatal(w.status)
					}
				}
				ask(chat(capital), "n")
				n := 0
				b.ReportAllocs()
				for b.Loop() {
					namespace := "n"
					if load == "miss" {
						n++
						namespace = utoa(uint64(n))
					}
					ask(chat(capital), namespace)
				}
			})
		}
	}
}

// traceBench is a proxy whose share of requests is traced; "": there are no traces.
func traceBench(b *testing.B, share string) *rig {
	b.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
	if share != "" {
		b.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
		b.Setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
		b.Setenv("OTEL_TRACES_SAMPLER_ARG", share)
	}
	settings, _ := otlp.Read(os.Environ())
	e := otlp.Start(settings, "", func(error) {})
	b.Cleanup(func() { e.Close(time.Millisecond) })
	return newRigAt(b, nil, http.NotFoundHandler(), func(o *Options) {
		o.Logger, o.Transport, o.Store, o.Tracer = nil, instantTransport{}, newStore(b, 1000, nil), e.Tracer()
	})
}
