package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"reprise/cmd/reprise/internal/config"
	"reprise/embed"
	"reprise/embed/openai"
	"reprise/proxy"
	"reprise/proxy/cache"
	"reprise/store"
)

// dialTimeout is how long a start waits for an embedding server: one that answers has its space known before the store is opened. The start
// goes on without one that does not, and so does the store; see cache.Revive.
const dialTimeout = 2 * time.Second

// newEmbedder returns the embedder. A server that cannot be reached is a warning.
func newEmbedder(ctx context.Context, cfg *config.Config, log *slog.Logger) (embed.Embedder, error) {
	e, err := cfg.NewEmbedder()
	if err != nil {
		return nil, err
	}
	remote, ok := e.(*openai.Embedder)
	if !ok {
		return e, nil
	}
	if cfg.Mode == string(proxy.ModeOff) && !cfg.Compares() {
		return remote, nil
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if err := remote.Dial(ctx); err != nil && !errors.Is(err, embed.ErrDim) { // of which the first check says it
		log.Warn(embedderFault(err), "url", cfg.EmbedderURL, "model", cfg.EmbedderModel, "error", err)
	}
	return remote, nil
}

// embedderFault is the message for an embedding server that does not work.
func embedderFault(err error) string {
	if errors.Is(err, embed.ErrDim) {
		return "the embedding server returns vectors of another length: exact hits only, and nothing stored is changed. Serve the former model again, " +
			"or restart the proxy to compute all vectors again"
	}
	return "the embedding server does not answer: exact hits only until it is back, and what is stored meanwhile gets its vector then"
}

// assumedDim is the length of vectors that is charged for an entry until the real one is known. Most models have 384 to 1536.
const assumedDim = 1024

// vectors returns the options of a store for the vectors of e.
func vectors(e embed.Embedder) (space string, dim int, former store.Former) {
	if remote, ok := e.(*openai.Embedder); ok && e.Dim() == 0 {
		return "", assumedDim, remote
	}
	return e.Space(), e.Dim(), nil
}

// embedderState returns what readyz shows of the embedder; nil if the embedder calls no server.
func (s *service) embedderState() func() string {
	c := s.proxy.Cache()
	if state, _ := c.Embedder(); state == "" {
		return nil
	}
	return func() string {
		state, _ := c.Embedder()
		return string(state)
	}
}

// adopted is called when the space of the embedder has become known after the start: what the processes that share the store have of it is
// taken, too.
func (s *service) adopted(space string) error {
	if s.sharing == nil {
		return nil
	}
	return s.sharing.adopted(s.proxy.Cache(), space)
}

// takeTimeout bounds the load of the vectors that others have computed.
const takeTimeout = time.Minute

func (s *sharing) adopted(c *cache.Cache, space string) error {
	s.link.SetSpace(space)
	ctx, cancel := context.WithTimeout(context.Background(), takeTimeout)
	defer cancel()
	return c.Follower().TakeVectors(ctx, s.link.Backing())
}
