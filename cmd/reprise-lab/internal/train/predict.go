package train

import (
	"context"

	"reprise/embed"
	"reprise/proxy/continuation"
)

// predictor is a trained variant.
type predictor struct {
	variant
	fit         *fitted
	odds        []float64 // of the training data, by turn; zeros without the turn
	calibration calibration
	threshold   float64
}

// learn trains a variant; calibration and threshold are of the validation data.
func learn(ctx context.Context, s *Set, v *vectors, what variant, seed uint64) (*predictor, error) {
	training := v.data(s, what.views, what.turn, s.pick(trainingPart, what.source))
	validation := v.data(s, what.views, what.turn, s.pick(validationPart, what.source))
	f, err := fit(ctx, training, validation, seed)
	if err != nil {
		return nil, err
	}
	p := &predictor{variant: what, fit: f, odds: make([]float64, lastBin)}
	if what.turn {
		p.odds = newByTurn(training.turns(), training.goesOn).odds()
	}
	logits, odds := p.witnesses(validation)
	p.calibration = calibrate(logits, odds, validation.goesOn)
	p.threshold = bestThreshold(p.calibration.of(logits, odds), validation.goesOn)
	return p, nil
}

// witnesses are the logits of the net and the log odds of the turns.
func (p *predictor) witnesses(d *data) (logits, odds []float64) {
	for _, t := range d.turns() {
		odds = append(odds, p.odds[min(t, lastBin)-1])
	}
	return newNetOf(p.fit.layers).logits(d), odds
}

// heldOut are the held-out examples of a source, and the predictions of p.
func (p *predictor) heldOut(s *Set, v *vectors, source int) (*data, []float64) {
	d := v.data(s, p.views, p.turn, s.pick(heldOutPart, source))
	return d, p.calibration.of(p.witnesses(d))
}

// sourcesOf are the sources of s, and all if there are several.
func sourcesOf(s *Set) (numbers []int, names []string) {
	for i, name := range s.Sources {
		numbers, names = append(numbers, i), append(names, name)
	}
	if len(numbers) > 1 {
		numbers, names = append(numbers, all), append(names, "all")
	}
	return numbers, names
}

func (r *Result) measure(s *Set, v *vectors, p *predictor) {
	numbers, names := sourcesOf(s)
	for i, source := range numbers {
		d, predicted := p.heldOut(s, v, source)
		training := v.data(s, nil, true, s.pick(trainingPart, source))
		validation := v.data(s, nil, true, s.pick(validationPart, source))
		shares := newByTurn(training.turns(), training.goesOn)
		byShare := shares.predict(d.turns())
		threshold := bestThreshold(shares.predict(validation.turns()), validation.goesOn)
		r.Sources = append(r.Sources, SourceResult{Name: names[i], Training: training.rows(),
			Model: scoreOf(predicted, d, p.threshold), Majority: scoreOf(byShare, d, 0.5), Turns: scoreOf(byShare, d, threshold),
			Reliability: reliability(predicted, d.goesOn)})
	}
}

func (r *Result) ablate(s *Set, v *vectors, p *predictor) {
	numbers, names := sourcesOf(s)
	for i, source := range numbers {
		if p.source != all && source != p.source {
			continue
		}
		d, predicted := p.heldOut(s, v, source)
		r.Ablations = append(r.Ablations, Ablation{p.name, names[i], d.width(), scoreOf(predicted, d, p.threshold)})
	}
}

// model is p in the form of the proxy.
func (p *predictor) model(s *Set, e embed.Embedder, r *Result) (*continuation.Model, error) {
	whole := &r.Sources[len(r.Sources)-1]
	f := continuation.Form{Embedder: e.Space(), Dim: e.Dim(), Tokens: tokens, Slope: p.calibration.slope, TurnSlope: p.calibration.turnSlope, Turns: p.odds,
		Intercept: p.calibration.intercept, Threshold: p.threshold, Seed: s.Seed,
		Training: continuation.Summary{Sources: s.Sources, Examples: whole.Training, HeldOut: whole.Model.Examples, MCC: whole.Model.MCC,
			F1Macro: whole.Model.F1Macro, TurnsOnly: whole.Turns.MCC, Brier: whole.Model.Brier, Epoch: r.Epoch}}
	for _, v := range p.views {
		f.Windows = append(f.Windows, v.window)
	}
	f.Layers = []int{p.fit.layers[0].weight.cols}
	var weights []float32
	for _, l := range p.fit.layers {
		f.Layers = append(f.Layers, len(l.bias))
		weights = append(append(weights, l.weight.all...), l.bias...)
	}
	return continuation.NewModel(f, weights)
}
