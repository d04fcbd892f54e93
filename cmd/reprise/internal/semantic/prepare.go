package semantic

import (
	"context"
	"fmt"

	"reprise/embed"
	"reprise/policy/sim"
)

// Load reads t into memory and gives every request with a text the vector that e makes of it, where the trace has none, and
// a request that says nothing what the one before it of the same identity said. A text that e has no vector for can be hit
// by its identity alone.
func Load(ctx context.Context, t sim.Trace, e embed.Embedder) (*sim.Slice, error) {
	s := &sim.Slice{Title: t.Name()}
	said := map[key]*sim.Content{}
	for r, err := range t.Requests() {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && r.Content != nil && r.Content.Vector == nil && r.Content.Text != "" {
			r.Content, err = content(ctx, e, r.Content.Text)
		}
		if err != nil {
			return nil, fmt.Errorf("load %s, request %d: %w", t.Name(), len(s.All)+1, err)
		}
		if k := (key{r.ID, r.Scope}); r.Content == nil {
			r.Content = said[k]
		} else {
			said[k] = r.Content
		}
		s.All = append(s.All, r)
	}
	return s, nil
}

func content(ctx context.Context, e embed.Embedder, text string) (*sim.Content, error) {
	vectors, err := e.Embed(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return &sim.Content{Text: text, Vector: vectors[0]}, nil
}

// Cluster labels the requests of s by topics that are found online: the first request of a topic stands for it for ever,
// and a request belongs to the one nearest to it from gate on, else it is the first of a new one. Requests without a vector
// have no topic. It takes a comparison for each request and each topic of its scope.
func Cluster(s *sim.Slice, gate float64) {
	leaders := map[uint64][]leader{}
	topics := uint64(0)
	for i := range s.All {
		r := &s.All[i]
		r.Topic = 0
		if r.Content == nil || r.Content.Vector == nil {
			continue
		}
		if r.Topic = nearest(leaders[r.Scope], r.Content.Vector, gate); r.Topic == 0 {
			topics++
			r.Topic = topics
			leaders[r.Scope] = append(leaders[r.Scope], leader{r.Content.Vector, topics})
		}
	}
}

// leader is the first request of a topic.
type leader struct {
	vector []float32
	topic  uint64
}

// nearest is the topic of the nearest leader from gate on, 0 where there is none.
func nearest(all []leader, v []float32, gate float64) (topic uint64) {
	best := gate
	for _, l := range all {
		if sim := float64(embed.Dot(l.vector, v)); sim >= best {
			topic, best = l.topic, sim
		}
	}
	return topic
}
