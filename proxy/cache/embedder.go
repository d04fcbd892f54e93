package cache

import (
	"context"
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"

	"reprise/embed"
)

// embedder makes vectors, and leaves an embed.Embedder alone that has failed five times in a row: it is tried again with one
// request a second. So a dead one costs a few requests its deadline, and then none.
type embedder struct {
	embed.Embedder
	local   bool          // it calls no server, so that it needs neither a limit nor the breaker
	limit   time.Duration // for one prompt; 0 is none
	breaker *gobreaker.CircuitBreaker[[][]float32]
}

func newEmbedder(e embed.Embedder, limit time.Duration) *embedder {
	_, local := e.(*embed.Builtin)
	return &embedder{e, local, limit, gobreaker.NewCircuitBreaker[[][]float32](gobreaker.Settings{
		Timeout:     time.Second,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= 5 },
		// A caller that has left says nothing about the embedder, neither good nor bad.
		IsExcluded: func(err error) bool { return errors.Is(err, context.Canceled) },
	})}
}

func (e *embedder) open() bool { return e.breaker.State() == gobreaker.StateOpen }

// vector turns a prompt into a vector; nil where nothing in it can be compared, or where the caller has left.
func (e *embedder) vector(ctx context.Context, prompt string) ([]float32, error) {
	vectors, err := e.embed(ctx, prompt)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, nil
	case err != nil:
		return nil, err
	case len(vectors) != 1:
		return nil, errors.New("the embedder returned no vector")
	}
	return vectors[0], nil
}

func (e *embedder) embed(ctx context.Context, prompt string) ([][]float32, error) {
	if e.local {
		return e.Embed(ctx, []string{prompt})
	}
	return e.breaker.Execute(func() ([][]float32, error) { return e.ask(ctx, prompt) })
}

func (e *embedder) ask(ctx context.Context, prompt string) ([][]float32, error) {
	if e.limit > 0 {
		limited, cancel := context.WithTimeout(ctx, e.limit)
		defer cancel()
		ctx = limited
	}
	return e.Embed(ctx, []string{prompt})
}
