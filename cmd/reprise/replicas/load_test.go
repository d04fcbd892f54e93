package replicas_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

var tenants = []string{"Bearer sk-canary-a", "Bearer sk-canary-b"}

// load is what clients ask until it is stopped.
type load struct {
	f      *fleet
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// newLoad starts two clients for each replica, one of each tenant.
func (f *fleet) newLoad() *load {
	ctx, cancel := context.WithCancel(context.Background())
	l := &load{f: f, cancel: cancel}
	f.t.Cleanup(l.stop)
	for i := range f.size() {
		for k, tenant := range tenants {
			l.wg.Go(func() { l.client(ctx, i, tenant, rand.New(rand.NewPCG(uint64(i), uint64(k)))) })
		}
	}
	return l
}

// stop waits until all clients have their last answer.
func (l *load) stop() { l.cancel(); l.wg.Wait() }

// purges purges a namespace at replica i now and then, until ctx ends. Where this replica alone has no Redis the others purge: it has to stop
// serving what they purge.
func (l *load) purges(ctx context.Context, i int) {
	for sleep(ctx, 250*time.Millisecond) {
		if l.f.allCut() || !l.f.wasCut(i, time.Now()) {
			l.f.purge(i, "red")
		}
	}
}

func (l *load) client(ctx context.Context, i int, tenant string, rng *rand.Rand) {
	popular := rand.NewZipf(rng, 1.2, 4, 59)
	for n := 0; sleep(ctx, 10*time.Millisecond); n++ {
		q := question{tenant: tenant, prompt: island(int(popular.Uint64()), rng.IntN(3)), stream: rng.IntN(2) == 0}
		switch {
		case n%25 == 24:
			q.prompt = fmt.Sprintf("Why was canary story %d %s?", rng.IntN(10), cutShort)
		case n%8 == 7:
			q.prompt = l.f.freshQuestion(tenant).prompt
		case rng.IntN(3) == 0:
			q.namespace = "red"
		}
		if a := l.f.ask(i, q); a.err != nil && l.f.replica(i).gone.Load() {
			sleep(ctx, 20*time.Millisecond) // until it is started again
		}
	}
}

// asked waits until clients have had so many more answers.
func (f *fleet) asked(more int) {
	f.t.Helper()
	count := func() int { f.mu.Lock(); defer f.mu.Unlock(); return len(f.asks) }
	target := count() + more
	eventually(f.t, "clients are answered", func() bool { return count() >= target })
}

// island is one of three forms of a question, which have one meaning.
func island(n, form int) string {
	prompt := fmt.Sprintf("What is the capital of canary island %d?", n)
	switch form {
	case 1:
		return strings.ToLower(prompt)
	case 2:
		return strings.TrimSuffix(prompt, "?")
	}
	return prompt
}

// sleep waits, and reports whether ctx goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
