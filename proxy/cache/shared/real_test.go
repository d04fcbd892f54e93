package shared

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reprise/internal/redistest"
	"reprise/store"
	"reprise/store/redis"
)

// recorder is a Log that notes where answers are appended: what a batch had is known when it is tried, and its place when it is read.
type recorder struct {
	Log
	h       *history
	process uint16

	*places
}

// places are those of a real server.
type places struct {
	mu    sync.Mutex // protects the rest
	tried map[[2]uint64][]string
	at    map[string]place
}

func (r *recorder) Append(ctx context.Context, m store.Mark, serial uint64, evs []store.Event) (store.Position, error) {
	var answers []string
	for i := range evs {
		if e := evs[i].Entry; e != nil {
			answers = append(answers, string(e.Answer))
			r.h.observe(string(e.Answer))
		}
	}
	r.places.mu.Lock()
	r.tried[[2]uint64{uint64(r.process), serial}] = answers
	r.places.mu.Unlock()
	return r.Log.Append(ctx, m, serial, evs)
}

func (r *recorder) Read(ctx context.Context, after store.Position, wait time.Duration) ([]store.Logged, error) {
	all, err := r.Log.Read(ctx, after, wait)
	r.places.mu.Lock()
	defer r.places.mu.Unlock()
	for _, l := range all {
		for i, answer := range r.tried[[2]uint64{uint64(l.Process), l.Serial}] {
			if _, known := r.at[answer]; !known {
				r.at[answer] = place{l.N*batchMost + uint64(i), time.Now()}
			}
		}
	}
	return all, err
}

// TestHistoriesOnRedis: the histories of TestHistories, shorter, at members of a real server, with partitions, closed connections and delays.
func TestHistoriesOnRedis(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	h := newHistory(t, nil, nil, false)
	h.slack = time.Second // the machine may be busy between an answer and its look at the clock
	where := &places{tried: map[[2]uint64][]string{}, at: map[string]place{}}
	var proxies []*redistest.Proxy
	for range 3 {
		proxy := redistest.NewProxy(t, server.Addr)
		proxies = append(proxies, proxy)
		link, err := redis.Open(t.Context(), redis.Options{URL: "redis://" + proxy.Addr, Space: "plane"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { link.Close() })
		m := &member{t: t}
		log := &recorder{Log: link, h: h, process: link.Process(), places: where}
		m.start(Link{Log: log, Group: link, Answers: link, Leases: link, Records: link.Backing()}, link.Secret(), link.Process(),
			func(o *Options) { o.Limit.Entries = 30 })
		h.members = append(h.members, m)
	}
	for _, m := range h.members {
		m.awaitLive()
	}
	h.run(4000, 1, time.Millisecond, func(rng *rand.Rand) { disturbNetwork(h, proxies[rng.IntN(3)], rng) })
	for _, m := range h.members {
		m.awaitLive()
	}
	where.mu.Lock()
	defer where.mu.Unlock()
	for i, b := range h.check(where.at) {
		if i < 5 {
			t.Error(b)
		}
	}
	if h.counted["hit"] < 100 || h.counted["purge"] == 0 || len(where.at) == 0 {
		t.Errorf("the history tests little: %v", h.counted)
	}
	t.Log(h.counted)
}

func disturbNetwork(h *history, p *redistest.Proxy, rng *rand.Rand) {
	faults := []string{"cut", "hold", "delay", "none"}
	what := faults[rng.IntN(len(faults))]
	h.count(fmt.Sprint("fault ", what))
	switch what {
	case "cut":
		p.Cut()
	case "hold":
		p.Hold()
	case "delay":
		p.Delay(time.Duration(rng.IntN(200)) * time.Millisecond)
	}
	time.Sleep(time.Duration(rng.IntN(2000)) * time.Millisecond)
	p.Heal()
}

// awaitLive waits until m follows the log of a real server.
func (m *member) awaitLive() {
	m.t.Helper()
	for end := time.Now().Add(time.Minute); !m.Stats().Live; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			m.t.Fatalf("not live: %+v, %q", m.Stats(), slices.Compact(m.noted()))
		}
	}
}

// TestSlowLink: large answers are appended without a fault over a link on which the batch of all of them takes longer than any other call may.
func TestSlowLink(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	proxy := redistest.NewProxy(t, server.Addr)
	link, err := redis.Open(t.Context(), redis.Options{URL: "redis://" + proxy.Addr, Space: "plane"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { link.Close() })
	m := &member{t: t}
	m.start(Link{Log: link, Group: link, Answers: link, Leases: link, Records: link.Backing()}, link.Secret(), link.Process())
	m.awaitLive()
	proxy.Throttle(400_000)
	rng := rand.NewChaCha8([32]byte{1})
	large := make([]byte, 100_000) // they cannot be packed
	for i := range 12 {
		rng.Read(large)
		m.put(string(rune('a'+i)), string(large))
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if n, _ := m.queue.size(); n == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("still in the queue: %+v", m.Stats())
		}
	}
	for _, f := range m.noted() {
		if strings.HasPrefix(f, "append") {
			t.Error(f)
		}
	}
}
