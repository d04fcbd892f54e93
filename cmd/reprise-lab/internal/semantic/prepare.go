package semantic

import (
	"context"
	"fmt"

	"reprise/cmd/reprise-lab/sim"
	"reprise/embed"
)

// Load reads t into memory. A request with a text and no vector gets the vector that e makes of the text. A request without both
// gets the content of the first one of the same identity: a log has the vector of a request that was answered word for word only
// where it was first asked. A text that e has no vector for can be hit by its identity alone. note is called with the number of
// requests loaded; the total is 0, unknown.
func Load(ctx context.Context, t sim.Trace, e embed.Embedder, note func(done, total int64)) (*sim.Slice, error) {
	l := loader{embedder: e, said: map[key]*sim.Content{}, texts: map[string]*sim.Content{}}
	s := &sim.Slice{Title: t.Name()}
	for r, err := range t.Requests() {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = l.load(ctx, &r)
		}
		if err != nil {
			return nil, fmt.Errorf("load request %d of %s: %w", len(s.All)+1, t.Name(), err)
		}
		s.All = append(s.All, r)
		note(int64(len(s.All)), 0)
	}
	return s, nil
}

type loader struct {
	embedder embed.Embedder
	said     map[key]*sim.Content    // by each identity, first
	texts    map[string]*sim.Content // embedded
	dim      int
}

func (l *loader) load(ctx context.Context, r *sim.Request) (err error) {
	k := key{r.ID, r.Scope}
	if r.Content == nil || r.Content.Vector == nil {
		if said := l.said[k]; said != nil {
			r.Content = said
			return nil
		}
	}
	if r.Content == nil {
		return nil
	}
	if r.Content.Vector == nil {
		if r.Content, err = l.embed(ctx, r.Content.Text); err != nil {
			return err
		}
	}
	if l.said[k] == nil {
		l.said[k] = r.Content
	}
	return l.check(len(r.Content.Vector))
}

// check refuses vectors of two spaces, as far as their lengths show it.
func (l *loader) check(dim int) error {
	if dim == 0 || dim == l.dim || l.dim == 0 {
		l.dim = max(l.dim, dim)
		return nil
	}
	return fmt.Errorf("a vector of %d numbers among others of %d: where a trace has vectors of its own, texts alone, which get %d, cannot be compared with them",
		dim, l.dim, l.embedder.Dim())
}

func (l *loader) embed(ctx context.Context, text string) (*sim.Content, error) {
	if c := l.texts[text]; c != nil {
		return c, nil
	}
	vectors, err := l.embedder.Embed(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	l.texts[text] = &sim.Content{Text: text, Vector: vectors[0]}
	return l.texts[text], nil
}

// Dim is the length of the vectors of s, 0 where there are none.
func Dim(s *sim.Slice) int {
	for i := range s.All {
		if c := s.All[i].Content; c != nil && len(c.Vector) > 0 {
			return len(c.Vector)
		}
	}
	return 0
}

// HasTexts reports whether each request of s that has a vector has its text, too, for a judge to compare.
func HasTexts(s *sim.Slice) bool {
	for i := range s.All {
		if c := s.All[i].Content; c != nil && len(c.Vector) > 0 && c.Text == "" {
			return false
		}
	}
	return true
}

// Cluster labels the requests of s by topics that are found online: the first request of a topic represents it for good,
// and a request belongs to the nearest topic from gate on, and otherwise begins a new one. Requests without a vector
// have no topic. It takes a comparison for each request and each topic of its scope, and ends early when ctx is done. note
// is called with the number of requests that have a topic, and of all.
func Cluster(ctx context.Context, s *sim.Slice, gate float64, note func(done, total int64)) error {
	leaders := map[uint64][]leader{}
	topics := uint64(0)
	for i := range s.All {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("cluster %s: %w", s.Name(), err)
		}
		note(int64(i), int64(len(s.All)))
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
	return nil
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
