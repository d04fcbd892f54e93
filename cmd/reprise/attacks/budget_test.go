package attacks_test

import (
	"fmt"
	"io"
	"net/http"
	"reprise/internal/built"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// storm sends requests that the proxy must hold until the upstream is released, and counts their answers by status.
type storm struct {
	p        *process
	wg       sync.WaitGroup
	answered atomic.Int64
	noRetry  atomic.Int64 // answers 503 without Retry-After
	statuses sync.Map     // int → *atomic.Int64
}

func (s *storm) send(body string) {
	s.wg.Go(func() {
		req, _ := http.NewRequest(http.MethodPost, s.p.API+"/v1/chat/completions", strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		resp, err := built.Client.Do(req)
		s.answered.Add(1)
		if err != nil {
			s.count(0).Add(1)
			return
		}
		defer resp.Body.Close()
		s.count(resp.StatusCode).Add(1)
		if resp.StatusCode == 503 && resp.Header.Get("Retry-After") == "" {
			s.noRetry.Add(1)
		}
		io.Copy(io.Discard, resp.Body)
	})
}

func (s *storm) count(status int) *atomic.Int64 {
	n, _ := s.statuses.LoadOrStore(status, new(atomic.Int64))
	return n.(*atomic.Int64)
}

// String is the number of answers of each status.
func (s *storm) String() string {
	var b strings.Builder
	s.statuses.Range(func(status, n any) bool {
		fmt.Fprintf(&b, "%d x %d, ", n.(*atomic.Int64).Load(), status)
		return true
	})
	return strings.TrimSuffix(b.String(), ", ")
}

// TestMemoryLimitHolds: line 13 of the list in SECURITY.md. A hundred bodies and answers of 20 MiB at once do not take the process
// over its limit; those that it has no room for get 503, hits go on, and everything is given back.
func TestMemoryLimitHolds(t *testing.T) {
	t.Parallel()
	const limit, large = 256, 20 << 20
	release := make(chan struct{})
	var free sync.Once
	defer free.Do(func() { close(release) })
	long := answer(strings.Repeat("x", large))
	p := start(t, "REPRISE_MEMORY_LIMIT=256MiB", upstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(io.LimitReader(r.Body, 200))
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.Contains(string(body), "hold"):
			<-release
			io.WriteString(w, answer("held"))
		case strings.Contains(string(body), "long"):
			io.WriteString(w, long[:large/2])
			w.(http.Flusher).Flush()
			<-release
			io.WriteString(w, long[large/2:])
		default:
			io.WriteString(w, answer("short"))
		}
	}))
	const question = "What is a small request?"
	p.ask(question)
	used := func(kind string) float64 {
		n, _ := p.Metric(`reprise_memory_used_bytes{kind="` + kind + `"}`)
		return n
	}

	s := &storm{p: p}
	padding := strings.Repeat("x", large)
	for i := range 50 {
		s.send(fmt.Sprintf(`{"model":"m","metadata":{"hold":%d},"messages":[{"role":"user","content":"%s"}]}`, i, padding))
		s.send(fmt.Sprintf(`{"model":"m","metadata":{"long":%d},"messages":[{"role":"user","content":"x"}]}`, i))
	}
	built.Until(t, "new work is refused", func() bool { return s.count(503).Load() > 10 })
	hits := 0
	for range 20 {
		if r := p.ask(question); r.Status == 200 && r.Cache() == "exact" {
			hits++
		} else {
			t.Errorf("a hit in the storm: status %d, X-Cache %q: %s", r.Status, r.Cache(), r.Body)
		}
	}
	bodies, recordings := used("bodies"), used("recordings")
	free.Do(func() { close(release) })
	s.wg.Wait()
	_, highest := p.memory()
	t.Logf("measured: limit %d MiB, highest %d MiB; %.0f MiB of bodies and %.0f of recordings charged; answers %s; %d hits of 20",
		limit, highest>>10, bodies/(1<<20), recordings/(1<<20), s, hits)
	if most := limit * 12 / 10; highest>>10 > most {
		t.Errorf("the process took %d MiB of %d", highest>>10, limit)
	}
	if s.noRetry.Load() > 0 || s.count(0).Load() > 0 || s.count(200).Load() == 0 {
		t.Errorf("%d answers 503 without Retry-After, %d clients without an answer, %d answers", s.noRetry.Load(), s.count(0).Load(), s.count(200).Load())
	}
	built.Until(t, "everything is given back", func() bool { return used("bodies") == 0 && used("recordings") == 0 })
	r := p.Do(http.MethodPost, p.API+"/v1/chat/completions", fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"%s"}]}`, padding))
	if r.Status != 200 {
		t.Errorf("a large request after the storm: status %d: %s", r.Status, r.Body)
	}
	if n, _ := p.Metric(`reprise_refused_total{reason="memory"}`); int64(n) != s.count(503).Load() {
		t.Errorf("%v refusals are counted, %d clients were refused", n, s.count(503).Load())
	}
}
