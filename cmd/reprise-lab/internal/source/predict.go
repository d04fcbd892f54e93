package source

import (
	"errors"
	"fmt"
	"io/fs"

	"reprise/cmd/reprise-lab/internal/train"
	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/cmd/reprise-lab/sim/blocks/files"
	"reprise/embed"
	"reprise/proxy/continuation"
)

// OpenModel reads a model that `reprise-lab train lpc` wrote, whose embedder e is. It is for Flags.Model.
func OpenModel(path string, e embed.Embedder) (*train.Predictor, error) {
	m, err := continuation.Open(path)
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

// predicted opens a file with predictions, if it has texts.
func predicted(path string, format files.Format, with files.Options, model *train.Predictor) (o opened, err error) {
	predict, trained, texts := model.Turn, model.TrainedWith(path), false
	if trained {
		predict = model.Hook
	}
	with.Predict = func(t files.Turn) float32 {
		texts = true
		return predict(t)
	}
	if o.trace, err = files.Open(path, format, with); err == nil {
		err = model.Err()
	}
	if err != nil || !texts {
		return o, err
	}
	if !trained {
		o.predictions = "no file of this name trained the model: all conversations are played, with predictions"
		return o, nil
	}
	whole := len(o.trace.Requests)
	o.trace = blocks.Compact(train.Fair(o.trace))
	if len(o.trace.Requests) == 0 {
		return o, fmt.Errorf("predict %s: all its conversations trained the model: want some that were held out", path)
	}
	o.predictions = fmt.Sprintf("%d of %d requests are left out: their conversations trained the model", whole-len(o.trace.Requests), whole)
	if o.trace.Note != "" {
		o.trace.Note += "; "
	}
	o.trace.Note += "without the conversations that trained the model"
	return o, nil
}
