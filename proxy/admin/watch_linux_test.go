package admin

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"syscall"
	"testing"
	"time"

	"reprise/proxy/observe"
	"reprise/proxy/observe/watch"
)

// BenchmarkPage is what three open pages cost at 5,000 requests a second: each reads the stream of all requests, and asks for the history and the
// overview, of a day at every step and of ten minutes every two seconds, as the page does. It prints the CPU time, that of the three clients
// included, as a share of one core, and the memory of a full history with its viewers. It takes a minute, whatever -benchtime says.
func BenchmarkPage(b *testing.B) {
	for window, every := range map[string]time.Duration{"24h": watch.Step, "10m": 2 * time.Second} {
		b.Run(window, func(b *testing.B) {
			before := heap()
			w := watch.New(watch.Options{Read: func() watch.Counters { return watch.Counters{} }})
			site := httptest.NewServer(New(Options{Proxy: &fakeProxy{}, Watch: w}))
			defer site.Close()
			defer w.Close()          // first: the server waits for its streams
			load := func() float64 { // the CPU time of a second
				start, spent := time.Now(), cpu()
				pass(w, 20*time.Second)
				return (cpu() - spent).Seconds() / time.Since(start).Seconds()
			}
			alone := load()
			for range 3 {
				go viewer(b.Context(), site.URL, window, every)
			}
			for !w.Watched() {
				runtime.Gosched()
			}
			b.ReportMetric(100*(load()-alone), "%core")
			b.ReportMetric(float64(heap()-before)/(1<<20), "MiB")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// pass lets 5,000 requests a second pass.
func pass(w *watch.Watch, window time.Duration) {
	results := []observe.Result{observe.Exact, observe.Semantic, observe.Miss, observe.Bypass, observe.Refused}
	start := time.Now()
	for n := 0; time.Since(start) < window; {
		for ; n < int(time.Since(start).Seconds()*5000); n++ {
			w.Ended(&observe.Outcome{Answered: true, Result: results[n%len(results)], At: time.Now(), Took: time.Duration(n) * time.Nanosecond, Tenant: "tenant",
				Model: "gpt-4o-mini", Endpoint: "chat", ID: "0123456789abcdef", Header: http.Header{"Cache-Status": {"reprise; fwd=uri-miss"}}})
		}
		time.Sleep(time.Millisecond)
	}
}

// viewer is an open page.
func viewer(ctx context.Context, url, window string, every time.Duration) {
	got, err := http.Get(url + "/admin/events")
	if err != nil {
		return
	}
	defer got.Body.Close()
	go func() {
		for tick := time.NewTicker(every); ctx.Err() == nil; <-tick.C {
			for _, path := range []string{"/admin/history?points=240&window=" + window, "/admin/overview"} {
				if r, err := http.Get(url + path); err == nil {
					_, _ = io.Copy(io.Discard, r.Body)
					r.Body.Close()
				}
			}
		}
	}()
	_, _ = io.Copy(io.Discard, got.Body)
}

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // never fails for the process itself
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
