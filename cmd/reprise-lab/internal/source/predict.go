package source

import (
	"fmt"
	"os"

	"reprise/cmd/reprise-lab/internal/train"
	"reprise/embed"
	"reprise/policy/continues"
)

// OpenModel reads a model that `reprise-lab train lpc` wrote, whose embedder e is. Its method Turn is for Flags.Predict.
func OpenModel(path string, e embed.Embedder) (*train.Predictor, error) {
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
	return p, nil
}
