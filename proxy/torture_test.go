package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reprise/embed"
	"reprise/internal/enginesim"
)

// tortureCapacity is far below the number of questions, so that evictions never stop.
const tortureCapacity = 60

// torture is one run: clients that ask, abort and follow up, an upstream that fails, purges and a clock that moves, all at
// once. What the upstream sent and what the clients received is recorded and compared.
type torture struct {
	*rig
	history
	now      atomic.Int64 // of the proxy's clock, nanoseconds
	inFlight atomic.Int64 // calls of the upstream
	peak     atomic.Int64 // entries seen at one time
}

// TestTorture checks the guarantees of the proxy under load and faults. The faults differ from run to run; the guarantees hold
// in every one.
func TestTorture(t *testing.T) {
	seed, long := uint64(time.Now().UnixNano()), 4*time.Second
	if testing.Short() {
		long = time.Second
	}
	t.Logf("seed %d", seed)
	before := runtime.NumGoroutine()
	t.Run("run", func(t *testing.T) {
		x := newTorture(t, seed)
		x.storm(seed, long)
		x.settle(t)
		x.checkAnswers(t)
		x.checkCalls(t)
		x.checkStore(t)
		x.checkLog(t)
		t.Logf("%d requests: %v; %d upstream calls, %d with a fault, %d purges, stats %+v",
			len(x.requests), x.results(), len(x.calls), x.faulty(), len(x.purges), x.Stats())
		x.checkReach(t)
	})
	http.DefaultClient.CloseIdleConnections()
	eventually(t, "the goroutines to end", func() bool { return runtime.NumGoroutine() <= before+4 })
}

func newTorture(t *testing.T, seed uint64) *torture {
	x := &torture{}
	x.now.Store(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	now := func() time.Time { return time.Unix(0, x.now.Load()) }
	rng := rand.New(rand.NewPCG(seed, 0))
	var mu sync.Mutex
	x.rig = newRigAt(t, nil, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		fault := upstreamFault(rng)
		mu.Unlock()
		x.serve(w, r, fault)
	}), func(o *Options) {
		o.Now, o.Words, o.TTL, o.StaleIfError = now, true, time.Minute, time.Minute
		o.Store = newStore(t, tortureCapacity, now)
		o.Embedder = &flakyEmbedder{Embedder: o.Embedder}
	})
	return x
}

// upstreamFault is the fault of the next call as enginesim spells it, often none.
func upstreamFault(rng *rand.Rand) string {
	bad := []string{"status=500", "status=503", "status=429, retry-after=1", fmt.Sprint("cut=", rng.IntN(900)), "error-event", "no-done", "malformed",
		"wrong-length=-20", "wrong-length=20", "finish=length", "finish=content_filter", "body=<html>"}
	odd := []string{"split", "crlf", "comments", "two-finish", "no-usage", "delay=5ms", "first-byte=5ms", "between=200us"}
	switch n := rng.IntN(10); {
	case n == 0:
		return "status=503"
	case n < 3:
		return bad[rng.IntN(len(bad))]
	case n < 6:
		return odd[rng.IntN(len(odd))]
	}
	return ""
}

// serve is the upstream: every answer has words of its own, so that its call can be found.
func (x *torture) serve(w http.ResponseWriter, r *http.Request, fault string) {
	x.inFlight.Add(1)
	defer x.inFlight.Add(-1)
	c := x.called(r.Header.Get("X-Torture"), fault)
	c.credential = r.Header.Get("Authorization")
	defer func() { x.returned(c, r.Context().Err() != nil) }()
	one := enginesim.New(enginesim.Options{Blocks: 16, Reply: func(enginesim.Question) (string, bool) { return c.text(), true }})
	r.Header.Set(enginesim.FaultHeader, fault)
	one.ServeHTTP(&watchedWriter{ResponseWriter: w, begins: func() { x.begins(c) }}, r)
}

// watchedWriter calls begins before the first byte of an answer.
type watchedWriter struct {
	http.ResponseWriter
	begins func()
}

func (w *watchedWriter) WriteHeader(status int) {
	w.begins()
	w.ResponseWriter.WriteHeader(status)
}

func (w *watchedWriter) Write(p []byte) (int, error) {
	w.begins()
	return w.ResponseWriter.Write(p)
}

func (w *watchedWriter) Flush() {
	w.begins()
	http.NewResponseController(w.ResponseWriter).Flush()
}

func (w *watchedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// flakyEmbedder fails now and then.
type flakyEmbedder struct {
	embed.Embedder
	n atomic.Int64
}

func (f *flakyEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	switch n := f.n.Add(1); {
	case n%17 == 0:
		return nil, errors.New("no model")
	case n%41 == 0:
		panic("embedder")
	case n%53 == 0:
		return nil, nil
	}
	return f.Embedder.Embed(ctx, texts)
}

// storm runs all actors for a while.
func (x *torture) storm(seed uint64, long time.Duration) {
	ctx, stop := context.WithTimeout(context.Background(), long)
	defer stop()
	var actors sync.WaitGroup
	for i := range 24 {
		actors.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(i+1)))
			for ctx.Err() == nil {
				x.client(rng)
			}
		})
	}
	actors.Go(func() { x.nature(ctx, rand.New(rand.NewPCG(seed, 1000))) })
	actors.Wait()
}

// nature moves the clock, purges, and watches the capacity.
func (x *torture) nature(ctx context.Context, rng *rand.Rand) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		<-tick.C
		n := int64(x.store.Stats().Entries)
		x.peak.Store(max(x.peak.Load(), n))
		switch rng.IntN(40) {
		case 0, 1:
			x.now.Add(int64(rng.IntN(40)) * int64(time.Second))
		case 2:
			x.now.Add(-int64(time.Second)) // clocks do that
		case 3, 4:
			x.purgeSome(rng)
		}
	}
}

func (x *torture) purgeSome(rng *rand.Rand) {
	var p purgeRecord
	body := `{"all":true,"dry_run":false}`
	switch rng.IntN(3) {
	case 0:
		p.tenant = tenants[rng.IntN(len(tenants))]
		body = `{"tenant":"` + x.ids.tenant(http.Header{"Authorization": {p.tenant}}) + `","dry_run":false}`
	case 1:
		p.model = models[rng.IntN(len(models))]
		body = `{"model":"` + p.model + `","dry_run":false}`
	}
	p.start = x.tick()
	got := httptest.NewRecorder()
	req := httptest.NewRequest("POST", "http://localhost/admin/purge", strings.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	x.adminAPI.ServeHTTP(got, req)
	p.end = x.tick()
	p.status = got.Code
	x.purged(p)
}

// client asks one thing, and a follow-up now and then.
func (x *torture) client(rng *rand.Rand) {
	q := x.newQuestion(rng)
	text := x.ask(rng, q)
	if text == "" || rng.IntN(3) > 0 {
		return
	}
	next := *q
	next.past, next.reply = q.prompt, text
	next.prompt = prompts[rng.IntN(len(prompts))]
	x.ask(rng, &next)
}

// ask sends q, records what came back and returns the answer's text, "" for none.
func (x *torture) ask(rng *rand.Rand, q *question) string {
	ctx := context.Background()
	got := x.asked(*q)
	if rng.IntN(8) == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(rng.IntN(4000))*time.Microsecond)
		defer cancel()
		got.aborted = true
	}
	req, err := http.NewRequestWithContext(ctx, "POST", x.api.URL+"/v1/chat/completions", strings.NewReader(q.body()))
	if err != nil {
		panic(err) // a mistake in this test
	}
	req.Header = q.header()
	req.Header.Set("X-Torture", fmt.Sprint(got.n))
	resp, err := x.api.Client().Do(req)
	if err == nil {
		var b []byte
		b, err = io.ReadAll(resp.Body)
		resp.Body.Close()
		got.status, got.cache, got.age, got.body = resp.StatusCode, resp.Header.Get("X-Cache"), resp.Header.Get("Age"), string(b)
	}
	x.answered(got, err)
	return got.text
}

// settle waits until nothing is under way. A request whose client has left may still be unread by the proxy, and a call that was
// cancelled by the upstream: closing a server waits for these too.
func (x *torture) settle(t *testing.T) {
	t.Helper()
	x.counted(t, int64(len(slices.DeleteFunc(slices.Clone(x.requests), func(r *requestRecord) bool { return r.cache == "" }))))
	x.api.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := x.Wait(ctx); err != nil {
		t.Fatalf("flights: %v", err)
	}
	x.up.Close()
	eventually(t, "the upstream to be idle", func() bool { return x.inFlight.Load() == 0 }) // its server does not wait for connections that a fault took over
	x.byKey = map[string][]*callRecord{}
	for _, c := range x.calls {
		key := x.requests[c.of].same()
		x.byKey[key] = append(x.byKey[key], c)
	}
	if n, _ := x.flights.Count(); n != 0 {
		t.Errorf("%d flights are left", n)
	}
}
