// Package train makes the predictor of Learned Prefix Caching (papers/004, §3.2 and §3.3): whether a conversation goes on, from the embedding
// of the user's prompts and the number of the turn. Half of the conversations are held out and measure it.
package train

import (
	"context"
	"fmt"
	"sync"

	"reprise/embed"
	"reprise/proxy/continuation"
)

// Options of Run.
type Options struct {
	Embedder  embed.Embedder
	Seed      uint64 // of the weights at the start and the order of the examples
	Ablations bool   // measures what other inputs and other data would give; each trains a model
	Workers   int    // models trained at one time; results do not depend on it. 0: 1
	Note      func(step string, done, total int)
}

// Result is the model and what was measured with it.
type Result struct {
	Model *continuation.Model `json:"-"`
	// Sources are the files, and in the last place all together if there are several.
	Sources   []SourceResult `json:"sources"`
	Ablations []Ablation     `json:"ablations,omitempty"`
	Epoch     int            `json:"epoch"`  // of the lowest validation loss
	Epochs    int            `json:"epochs"` // in all
	Threshold float64        `json:"threshold"`
}

// SourceResult is how the model predicts the held-out half of a file.
type SourceResult struct {
	Name     string `json:"name"`
	Training int    `json:"training"` // requests
	Model    Score  `json:"model"`
	// Majority is the ablation of papers/004 §A.3: the majority label of the turn. Turns decides by the turn's share and a threshold of the
	// highest MCC on validation data, as the model does.
	Majority    Score `json:"turns_majority"`
	Turns       Score `json:"turns_threshold"`
	Reliability []Bin `json:"reliability"`
}

// Ablation is how a model of other inputs or other data predicts the held-out half of a file.
type Ablation struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	Inputs int    `json:"inputs"`
	Score  Score  `json:"score"`
}

// variant is a model to be trained.
type variant struct {
	name   string
	views  []view
	turn   bool
	source int // of its training data, or all
}

// window is that of papers/004 §3.2: the current prompt and four before it.
const window = 5

// full is the variant that becomes the model.
var full = variant{"full", []view{{window: 1}, {window: window}}, true, all}

// variants are those of the ablations.
func variants(s *Set) []variant {
	list := []variant{
		{"one vector of the window of 5 (the paper's input)", []view{{window: window}}, true, all},
		{"one vector of the window of 10", []view{{window: mostWindow}}, true, all},
		{"one vector of the window of 5, with responses", []view{{window: window, answers: true}}, true, all},
		{"prompt, and window of 10", []view{{window: 1}, {window: mostWindow}}, true, all},
		{"prompt, and window of 5 with responses", []view{{window: 1}, {window: window, answers: true}}, true, all},
		{"prompt alone", []view{{window: 1}}, true, all},
		{"without the turn", full.views, false, all},
	}
	for i, name := range s.Sources {
		if len(s.Sources) > 1 && s.learnable(i) {
			list = append(list, variant{"dedicated to " + name, full.views, true, i})
		}
	}
	return list
}

// Run trains the model, and measures it on the held-out half.
func Run(ctx context.Context, s *Set, o Options) (*Result, error) {
	if o.Note == nil {
		o.Note = func(string, int, int) {}
	}
	list := []variant{full}
	if o.Ablations {
		list = append(list, variants(s)...)
	}
	v := &vectors{embedder: o.Embedder, made: map[view]*matrix{}}
	if err := v.addAll(ctx, s, list, o.Note); err != nil {
		return nil, err
	}
	trained, err := trainAll(ctx, s, v, list, o)
	if err != nil {
		return nil, err
	}
	r := &Result{Epoch: trained[0].fit.epoch, Epochs: trained[0].fit.epochs, Threshold: trained[0].threshold}
	r.measure(s, v, trained[0])
	for _, p := range trained[1:] {
		r.ablate(s, v, p)
	}
	r.Model, err = trained[0].model(s, o.Embedder, r)
	return r, err
}

// trainAll trains the models, o.Workers at one time.
func trainAll(ctx context.Context, s *Set, v *vectors, list []variant, o Options) ([]*predictor, error) {
	trained, errs := make([]*predictor, len(list)), make([]error, len(list))
	var mu sync.Mutex // guards done
	done := 0
	var wg sync.WaitGroup
	next := make(chan int)
	for range max(o.Workers, 1) {
		wg.Go(func() {
			for i := range next {
				trained[i], errs[i] = learn(ctx, s, v, list[i], o.Seed)
				mu.Lock()
				done++
				o.Note("trained", done, len(list))
				mu.Unlock()
			}
		})
	}
	for i := range list {
		next <- i
	}
	close(next)
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("train %s: %w", list[i].name, err)
		}
	}
	return trained, nil
}
