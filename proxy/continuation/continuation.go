// Package continuation predicts whether the conversation of a request goes on (papers/004, §3.2), beside the request's way to an engine: a
// request never waits for it and never fails by it, because a prediction only ranks prefixes.
//
// A [Model] is a multilayer perceptron, trained by reprise-lab, that reads embeddings of the user's last prompts and the number of the turn; its
// logit becomes a probability by Platt scaling. A [Predictor] finds the prompts of a request and asks the embedder.
package continuation

import (
	"context"
	"slices"
	"sync"
	"time"

	"reprise/embed"
	"reprise/proxy/canon"
)

// Options of New.
type Options struct {
	Model    *Model
	Embedder embed.Embedder
	Limit    time.Duration // for the vectors of one prediction; 0: none
	// Guard runs a step, reports its error or panic, and goes on.
	Guard func(step func() error)
}

// mostWaiting is how many predictions wait at most. A request that comes when there are more gets none: the next turn gets another.
const mostWaiting = 64

// Predictor predicts one after another, in a goroutine that exists only while there is something to predict. It is safe for concurrent use.
// A nil one predicts nothing.
type Predictor struct {
	o    Options
	ctx  context.Context // of the calls of the embedder
	stop context.CancelFunc
	work sync.WaitGroup

	mu      sync.Mutex // guards what follows
	waiting []job
	busy    bool // a goroutine runs
	closed  bool
}

// job is one prediction. It holds mostRead bytes of the conversation at most.
type job struct {
	asks [][]string
	turn int
	then func(prob float64)
}

// New returns a predictor, nil where there is no model.
func New(o Options) *Predictor {
	if o.Model == nil {
		return nil
	}
	p := &Predictor{o: o}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p
}

// Predict calls then with the probability that the conversation of r goes on, soon and in another goroutine, or never. body is the one that r
// was read from; neither is kept. The caller pays for a copy of some kilobytes: texts are decoded in the other goroutine.
func (p *Predictor) Predict(r *canon.Request, body []byte, then func(prob float64)) {
	if p == nil || p.full() {
		return
	}
	f := p.o.Model.Form()
	if asks := asksOf(r, body, slices.Max(f.Windows)); len(asks) > 0 {
		p.add(job{asks, len(r.Turns) + 1, then})
	}
}

func (p *Predictor) full() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed || len(p.waiting) >= mostWaiting
}

func (p *Predictor) add(j job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.waiting) >= mostWaiting {
		return
	}
	p.waiting = append(p.waiting, j)
	if !p.busy {
		p.busy = true
		p.work.Go(p.drain)
	}
}

func (p *Predictor) drain() {
	for j, ok := p.next(); ok; j, ok = p.next() {
		p.o.Guard(func() error { return p.run(j) })
	}
}

// next takes the first job; false: there is none, and the goroutine ends.
func (p *Predictor) next() (j job, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) == 0 {
		p.busy, p.waiting = false, nil
		return j, false
	}
	j = p.waiting[0]
	p.waiting[0] = job{}
	p.waiting = p.waiting[1:]
	return j, true
}

// run checks the embedder each time, because one that calls a server may get its space only after the start.
func (p *Predictor) run(j job) error {
	prompts := promptsOf(j.asks, slices.Max(p.o.Model.Form().Windows))
	if len(prompts) == 0 {
		return nil
	}
	ctx, cancel := p.ctx, context.CancelFunc(func() {})
	if p.o.Limit > 0 {
		ctx, cancel = context.WithTimeout(ctx, p.o.Limit)
	}
	defer cancel()
	vectors, err := p.o.Embedder.Embed(ctx, p.o.Model.Texts(prompts))
	if err != nil {
		if p.ctx.Err() != nil { // closed
			return nil
		}
		return err
	}
	if err := p.o.Model.Suits(p.o.Embedder.Space(), p.o.Embedder.Dim()); err != nil {
		return err
	}
	j.then(p.o.Model.Predict(p.o.Model.Join(nil, vectors), j.turn))
	return nil
}

// Close drops what waits, ends what runs, and returns when it has.
func (p *Predictor) Close() {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.waiting, p.closed = nil, true
	p.mu.Unlock()
	p.stop()
	p.work.Wait()
}
