package main

import (
	"context"
	"log/slog"
	"time"

	"reprise/proxy/cache"
)

// revival computes the vectors that entries lack in the background, as after a change of the embedder.
type revival struct {
	log     *slog.Logger
	stop    context.CancelFunc
	ended   chan struct{}
	began   time.Time // of the work that was logged; zero: none is under way
	done    int       // before it
	failing bool
	adopted func(space string) error
	shown   cache.EmbedderState
}

// revive begins; close ends it. adopted is called when the space of the embedder has become known.
func revive(c *cache.Cache, adopted func(space string) error, log *slog.Logger) *revival {
	ctx, stop := context.WithCancel(context.Background())
	r := &revival{log: log, stop: stop, ended: make(chan struct{}), adopted: adopted}
	r.shown, _ = c.Embedder()
	go func() {
		defer close(r.ended)
		c.Revive(ctx, r.report)
	}()
	return r
}

// worthLogging is how many entries must lack a vector for a message, but at the start: an embedder that was away for a moment leaves a few.
const worthLogging = 100

func (r *revival) report(now cache.Revival) {
	if now.Space != "" {
		r.adopt(now.Space)
		return
	}
	if now.Embedder != r.shown {
		r.state(now)
		return
	}
	first := r.done == 0 && now.Done == 0
	if r.began.IsZero() && now.Left > 0 && (first || now.Left >= worthLogging) {
		r.began, r.done = time.Now(), now.Done
		r.log.Info("entries have no vectors of this embedder: they answer their exact requests, and are found by meaning once their vectors are computed, which begins now",
			"entries", now.Left)
	}
	if failing := now.Fault != nil; failing != r.failing {
		if r.failing = failing; failing {
			r.log.Warn("the embedder fails: the vectors that entries lack are computed when it works again", "left", now.Left, "error", now.Fault)
		} else {
			r.log.Info("the embedder works again: the vectors that entries lack are computed", "left", now.Left)
		}
	}
	if now.Left == 0 && !r.began.IsZero() {
		r.log.Info("all entries have vectors of this embedder", "computed", now.Done-r.done, "seconds", int(time.Since(r.began).Seconds()))
		r.began, r.done = time.Time{}, now.Done
	}
}

// adopt logs that the embedder has answered for the first time.
func (r *revival) adopt(space string) {
	if err := r.adopted(space); err != nil {
		r.log.Warn("the vectors of the shared store could not be read: they are computed", "error", err)
	}
	r.log.Info("the embedding server has answered for the first time: its vectors are taken from now on", "space", space)
}

// state logs a new state of the embedder.
func (r *revival) state(now cache.Revival) {
	if r.shown = now.Embedder; now.Fault != nil {
		r.log.Warn(embedderFault(now.Fault), "state", now.Embedder, "lacking", now.Left, "error", now.Fault)
		return
	}
	r.failing = false
	r.log.Info("the embedding server works: prompts are compared by meaning, and entries without a vector get theirs", "lacking", now.Left)
}

// close stops, and waits for a batch that is under way to end. The rest is computed after the next start.
func (r *revival) close() {
	if r != nil {
		r.stop()
		<-r.ended
	}
}
