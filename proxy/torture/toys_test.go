package torture

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"reprise/embed"
	"reprise/policy"
	"reprise/proxy/cache"
	"reprise/topics/reuse"
	"reprise/topics/reuse/evidence"
	"reprise/topics/reuse/normal"
)

// toys panic now and then while on is set.
type toys struct {
	on  atomic.Bool
	mu  sync.Mutex // guards rng
	rng *rand.Rand
}

func (p *toys) panics(one int) {
	p.mu.Lock()
	hit := p.on.Load() && p.rng.IntN(one) == 0
	p.mu.Unlock()
	if hit {
		panic("by order of the test")
	}
}

type panickyEvictor struct {
	policy.Evictor
	*toys
}

func (e panickyEvictor) Insert(it policy.Item, at policy.Tick) {
	e.panics(10)
	e.Evictor.Insert(it, at)
}
func (e panickyEvictor) Hit(id policy.ID, at policy.Tick) { e.panics(10); e.Evictor.Hit(id, at) }
func (e panickyEvictor) Victim() (policy.ID, bool)        { e.panics(10); return e.Evictor.Victim() }

type panickyEmbedder struct {
	embed.Embedder
	*toys
}

func (e panickyEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	e.panics(5)
	return e.Embedder.Embed(ctx, texts)
}

type panickyJudge struct {
	by cache.Judge
	*toys
}

func (j panickyJudge) Forms(stored, asked *normal.Form, c reuse.Context) reuse.Verdict {
	j.panics(3)
	return j.by.Forms(stored, asked, c)
}

func (j panickyJudge) Serves(c *evidence.Case, maxError float64, trust reuse.Trust) (bool, float64) {
	return j.by.Serves(c, maxError, trust)
}
