package train

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/cmd/reprise-lab/sim/blocks/files"
	"reprise/embed"
	"reprise/proxy/continuation"
)

// Predictor is a model with its embedder, for replays. It is not safe for concurrent use.
type Predictor struct {
	model    *continuation.Model
	embedder embed.Embedder
	vector   []float32
	err      error
}

// NewPredictor returns an error if the embedder is not that of the model.
func NewPredictor(m *continuation.Model, e embed.Embedder) (*Predictor, error) {
	if err := m.Suits(e.Space(), e.Dim()); err != nil {
		return nil, err
	}
	return &Predictor{model: m, embedder: e}, nil
}

// Predict is the probability that a conversation goes on after the user's prompts, the oldest first, at a turn from 1. It is 0, which is no
// prediction, where embedding fails; Err has the first error.
func (p *Predictor) Predict(prompts []string, turn int) float64 {
	all, err := p.embedder.Embed(context.Background(), p.model.Texts(prompts))
	if err != nil {
		if p.err == nil {
			p.err = err
		}
		return 0
	}
	p.vector = p.model.Join(p.vector[:0], all)
	return p.model.Predict(p.vector, turn)
}

// Turn is Predict in the form of files.Options.
func (p *Predictor) Turn(t files.Turn) float32 { return float32(p.Predict(t.Prompts, t.Number)) }

// Hook is Turn, but a conversation that was not held out in training gets no prediction, so that Fair can leave it out.
func (p *Predictor) Hook(t files.Turn) float32 {
	if len(t.Prompts) == 0 || !p.HeldOut(t.Prompts[0]) {
		return 0
	}
	return p.Turn(t)
}

// Fair is the trace without the requests that have no prediction: conversations that the model was trained with. Requests that continue one
// of them have none either. It shares the chains of t, which keeps its blocks and their numbers.
func Fair(t *blocks.Trace) *blocks.Trace {
	fair := *t
	fair.Requests = nil
	moved := make([]int32, len(t.Requests)+1) // the numbers of requests, from 1; 0: left out
	for i, r := range t.Requests {
		if r.Prob == 0 {
			continue
		}
		r.After = moved[r.After]
		fair.Requests = append(fair.Requests, r)
		moved[i+1] = int32(len(fair.Requests))
	}
	return &fair
}

// HeldOut reports whether conversations that begin with a prompt were held out in training. A fair replay has only these.
func (p *Predictor) HeldOut(opening string) bool {
	return partOf(p.model.Form().Seed, opening) == heldOutPart
}

// TrainedWith reports whether a file of the name, with whatever folder and packing, was one of those of the training.
func (p *Predictor) TrainedWith(path string) bool {
	return slices.ContainsFunc(p.model.Form().Training.Sources, func(source string) bool { return unpacked(source) == unpacked(path) })
}

func unpacked(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".gz"), ".zst")
}

// Err is the first error of Predict.
func (p *Predictor) Err() error { return p.err }
