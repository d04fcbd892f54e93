package source

import (
	"errors"
	"fmt"
	"io/fs"

	"reprise/cmd/internal/modelfile"
	"reprise/cmd/reprise-lab/internal/train"
	"reprise/embed"
)

// OpenModel reads a model that `reprise-lab train lpc` wrote, whose embedder e is. Its method Turn is for Flags.Predict.
func OpenModel(path string, e embed.Embedder) (*train.Predictor, error) {
	m, err := modelfile.Continues(path)
	if at := (*fs.PathError)(nil); errors.As(err, &at) { // which names the path
		return nil, fmt.Errorf("read model: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("read model %s: %w", path, err)
	}
	p, err := train.NewPredictor(m, e)
	if err != nil {
		return nil, fmt.Errorf("read model %s: %w", path, err)
	}
	return p, nil
}
