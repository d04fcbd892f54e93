package proxy

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/sony/gobreaker/v2"
)

// newBreaker leaves an embedder alone that has failed five times in a row, and tries it again with one request a second:
// a dead one costs a few requests its deadline, and then none.
func newBreaker() *gobreaker.CircuitBreaker[[][]float32] {
	return gobreaker.NewCircuitBreaker[[][]float32](gobreaker.Settings{
		Timeout:     time.Second,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= 5 },
		// A caller that has left says nothing about the embedder, neither good nor bad.
		IsExcluded: func(err error) bool { return errors.Is(err, context.Canceled) },
	})
}

// embed turns q's prompt into a vector; none if there is nothing in it to compare, or nobody left to compare it for.
func (s *Server) embed(ctx context.Context, q *query, found *finding) error {
	start := s.opts.Now()
	limit := s.opts.Limits.Embed
	if limit < 0 {
		limit = math.MaxInt64
	}
	vectors, err := s.embedder.Execute(func() ([][]float32, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return s.opts.Embedder.Embed(ctx, []string{q.Prompt})
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	}
	if len(vectors) != 1 {
		return errors.New("the embedder returned no vector")
	}
	found.vector = vectors[0]
	s.metrics.step(stepEmbed, s.opts.Now().Sub(start))
	return nil
}
