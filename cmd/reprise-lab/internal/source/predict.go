package source

import (
	"fmt"
	"os"

	"reprise/cmd/reprise-lab/internal/train"
	"reprise/embed"
	"reprise/policy/continues"
	"reprise/policy/sim/blocks/files"
)

// Predictions are those of a model about the turns of a file that has texts.
type Predictions struct{ of *train.Predictor }

// OpenModel reads a model that `reprise-lab train lpc` wrote, whose embedder e is.
func OpenModel(path string, e embed.Embedder) (*Predictions, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read model: %w", err)
	}
	m, err := continues.Load(data)
	if err != nil {
		return nil, fmt.Errorf("read model %s: %w", path, err)
	}
	p, err := train.NewPredictor(m, e)
	if err != nil {
		return nil, fmt.Errorf("read model %s: %w", path, err)
	}
	return &Predictions{p}, nil
}

// Predict is for Flags.Predict.
func (p *Predictions) Predict(t files.Turn) float32 {
	return float32(p.of.Predict(t.Prompts, t.Number))
}

// Err is the first error of Predict.
func (p *Predictions) Err() error { return p.of.Err() }
