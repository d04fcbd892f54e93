package replicas_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reprise/internal/redistest"
)

// ratioCase is a capacity and a number of replicas.
type ratioCase struct {
	name     string
	entries  int // capacity
	fits     bool
	replicas int
}

// TestRatios plays a trace through one proxy that is alone, and through several on one Redis, one request to each in turn. After a
// warm-up each of several has the hits of the one, within a point: on the very requests that it had. Where entries are evicted two runs of one
// proxy differ too, because its policy learns from what it happens to evict: a difference counts beyond three times its standard deviation,
// which is the root of the number of requests with different results.
func TestRatios(t *testing.T) {
	t.Parallel()
	for _, c := range []ratioCase{
		{name: "all entries fit", entries: 100_000, fits: true, replicas: 4},
		{name: "entries are evicted", entries: 300, replicas: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t)
		})
	}
}

func (c *ratioCase) test(t *testing.T) {
	capacity, prompts := fmt.Sprint("REPRISE_CAPACITY_ENTRIES=", c.entries), zipfTrace(3000)
	alone, _, _ := play(t, newFleet(t, []string{"memory"}, capacity), prompts)
	for try := 1; ; try++ {
		several, most, late := play(t, on(t, c.replicas, redistest.Start(t, redistest.Options{}), capacity), prompts)
		wrong := c.compare(t, alone, several, c.replicas, most)
		if len(wrong) > 0 && late > 0 && try < 5 {
			t.Logf("again, because the machine was late for %v: %q", late, wrong)
			continue
		}
		for _, w := range wrong {
			t.Error(w)
		}
		return
	}
}

// compare returns what n replicas have done worse than one that is alone.
func (c *ratioCase) compare(t *testing.T, alone, several *played, n, most int) (wrong []string) {
	fail := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for i := range n {
		want, got, different := alone.ratio(i, n), several.ratio(i, n), several.differs(alone, i, n)
		requests := float64(len(several.hits)) / float64(n)
		t.Logf("measured: replica %d of %d: %.2f %% of %.0f are hits, alone %.2f %%; %.0f have another result", i+1, n, 100*got, requests, 100*want, different)
		if math.Abs(want-got) > 0.01+3*math.Sqrt(different)/requests || c.fits && math.Abs(want-got) > 0.01 {
			fail("replica %d of %d: %.2f %% of its requests are hits, and %.2f %% of the same requests at one that is alone", i+1, n, 100*got, 100*want)
		}
	}
	t.Logf("measured: %d replicas: %d hits by meaning, alone %d; %d entries at most", n, several.semantic, alone.semantic, most)
	// A request that comes before an alias has arrived is a hit by meaning again, and of many aliases of one entry the oldest are dropped.
	if c.fits && 100*max(several.semantic-alone.semantic, alone.semantic-several.semantic) > alone.semantic {
		fail("%d replicas: %d hits by meaning, and %d alone", n, several.semantic, alone.semantic)
	}
	if most > c.entries+c.entries/100 {
		fail("%d replicas: %d entries at one time, the capacity is %d", n, most, c.entries)
	}
	return wrong
}

// played are the results of the second half of a trace.
type played struct {
	hits     []bool
	semantic int
}

// ratio is the share of hits among the requests of replica i of n.
func (p *played) ratio(i, n int) float64 {
	hits, asked := 0, 0
	for k, hit := range p.hits {
		if k%n == i {
			asked++
			if hit {
				hits++
			}
		}
	}
	return float64(hits) / float64(asked)
}

// differs is the number of requests of replica i of n that are hits in one run and misses in the other.
func (p *played) differs(other *played, i, n int) (k float64) {
	for at := i; at < len(p.hits); at += n {
		if p.hits[at] != other.hits[at] {
			k++
		}
	}
	return k
}

// play sends the trace, one request after the other, and reports the most entries that a replica had at one time, and for how long the machine
// was late: a replica serves less then.
func play(t *testing.T, f *fleet, prompts []string) (p *played, most int, late time.Duration) {
	t.Helper()
	begin := time.Now()
	var seen atomic.Int64
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			case <-time.After(10 * time.Millisecond):
				seen.Store(max(seen.Load(), int64(f.replica(i%f.size()).stats().Entries)))
			}
		}
	})
	p = &played{}
	half := len(prompts) / 2
	for k, prompt := range prompts {
		if now := time.Now(); f.lateFor(now.Add(-time.Second), now, all[:f.size()]...) > 0 && len(f.servers) > 0 {
			f.followed()
		}
		a := f.ask(k%f.size(), question{tenant: tenants[0], prompt: prompt, stream: k%3 == 0})
		if k >= half {
			p.hits = append(p.hits, a.hit())
		}
		if a.result() == "semantic" {
			p.semantic++
		}
	}
	close(done)
	watch.Wait()
	f.check()
	late = f.lateFor(begin, time.Now(), all[:f.size()]...)
	for i := range f.size() {
		f.replica(i).kill()
	}
	return p, int(seen.Load()), late
}

// followed waits until all replicas follow the log.
func (f *fleet) followed() {
	for i := range f.size() {
		eventually(f.t, fmt.Sprint("replica ", i, " follows the log"), func() bool {
			r, err := f.replica(i).Try(f.t.Context(), http.MethodGet, f.replica(i).Admin+"/readyz", "")
			return err == nil && strings.Contains(r.Body, "redis: shared")
		})
	}
}

// zipfTrace draws questions by Zipf's law, each in one of its three forms.
func zipfTrace(n int) (prompts []string) {
	rng := rand.New(rand.NewPCG(3, 4))
	popular := rand.NewZipf(rng, 1.1, 8, 1999)
	for range n {
		prompts = append(prompts, island(int(popular.Uint64()), rng.IntN(3)))
	}
	return prompts
}
