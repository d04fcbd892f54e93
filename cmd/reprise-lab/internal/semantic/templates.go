package semantic

import (
	"cmp"
	"context"
	"sync"

	"reprise/cmd/reprise-lab/sim"
	"reprise/embed"
	"reprise/internal/layouts"
)

// Templated is a trace that is played behind templates: see InTemplates.
type Templated struct{ sim.Trace }

// Name is that of the trace, with a mark.
func (t Templated) Name() string { return t.Trace.Name() + " in templates" }

// InTemplates returns s with each text in one of ten templates, as an application sends it, with a document where the template has one. Requests of one
// topic come from one application, with one template and document; without a topic, those of one conversation. Identities stay: an equal request is in
// an equal prompt. The vectors are left out, because they depend on what a cache has learnt of the templates.
func InTemplates(s *sim.Slice) *sim.Slice {
	out := &sim.Slice{Title: s.Title, All: make([]sim.Request, len(s.All))}
	prompts := map[key]*sim.Content{}
	for i, r := range s.All {
		if k := (key{r.ID, r.Scope}); r.Content != nil && r.Content.Text != "" {
			if prompts[k] == nil {
				of := cmp.Or(r.Topic, r.Conversation, r.ID)
				template := layouts.All[(of*0x9E3779B97F4A7C15>>32)%uint64(len(layouts.All))]
				prompts[k] = &sim.Content{Text: layouts.Ask(template, layouts.Doc(of), r.Content.Text)}
			}
			r.Content = prompts[k]
		}
		out.All[i] = r
	}
	return out
}

// remembered is an embedder that embeds each text once, for all caches of a replay.
type remembered struct {
	embed.Embedder
	mu      sync.Mutex // protects vectors
	vectors map[string][]float32
}

// Remembered returns e with a memory of every vector.
func Remembered(e embed.Embedder) embed.Embedder {
	return &remembered{Embedder: e, vectors: map[string][]float32{}}
}

func (m *remembered) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([][]float32, len(texts))
	for i, text := range texts {
		v, known := m.vectors[text]
		if !known {
			made, err := m.Embedder.Embed(ctx, []string{text})
			if err != nil {
				return nil, err
			}
			v = made[0]
			m.vectors[text] = v
		}
		all[i] = v
	}
	return all, nil
}
