package continuation

import (
	"fmt"
	"math"
)

// mostWidth is the widest hidden layer: the activations of Predict are on the stack.
const mostWidth = 256

// Form is what a model reads, and how it was made.
type Form struct {
	Embedder string `json:"embedder"` // space of the vectors, as embed.Embedder names it
	Dim      int    `json:"dim"`      // of one vector
	// Windows are how many of the user's last prompts each text has. A text is one vector; the input has them one after the other. The
	// paper has one window of 5. An embedder of words alone loses the order of the prompts, so that the last one needs a text of its own.
	Windows []int `json:"windows"`
	Tokens  int   `json:"tokens"` // of one text at most; see Text
	Layers  []int `json:"layers"` // widths, from the input, which is Dim × len(Windows) + 1, to the output, which is 1

	// Platt scaling with the turn as a second witness: p = σ(Slope × logit + TurnSlope × Turns[turn-1] + Intercept). Turns are the log odds
	// that a conversation goes on after a turn, the last one for all later turns. Where the turn says all, the text cannot hide it.
	Slope     float64   `json:"slope"`
	TurnSlope float64   `json:"turn_slope"`
	Turns     []float64 `json:"turns"` // none: TurnSlope is 0
	Intercept float64   `json:"intercept"`
	Threshold float64   `json:"threshold"` // from which on a yes has the highest MCC in validation; a cache ranks by p, and does not need it

	Seed     uint64  `json:"seed"` // of the split: PartOf(Seed, opening) is the part of a conversation
	Training Summary `json:"training"`
}

// Summary is what the training measured.
type Summary struct {
	Sources   []string `json:"sources"`    // names of files without folders
	Examples  int      `json:"examples"`   // requests that set the weights
	HeldOut   int      `json:"held_out"`   // requests that measured them
	MCC       float64  `json:"mcc"`        // on those held out
	F1Macro   float64  `json:"f1_macro"`   // same
	TurnsOnly float64  `json:"turns_only"` // MCC there of a prediction by the turn alone
	Brier     float64  `json:"brier"`      // mean squared error of p there
	Epoch     int      `json:"epoch"`      // of the lowest validation loss, from 1
}

// Model is a trained predictor. It is never changed, so several goroutines may use one.
type Model struct {
	form    Form
	weights []float32 // of each layer: a row for each output, then the biases
}

// NewModel makes a model of a form and its weights: for each layer a row for each output, then the biases. The model keeps both.
func NewModel(f Form, weights []float32) (*Model, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if want := f.size(); len(weights) != want {
		return nil, fmt.Errorf("%w: %d weights, want %d for layers of %v", errModel, len(weights), want, f.Layers)
	}
	for i, w := range weights {
		if math.IsNaN(float64(w)) || math.IsInf(float64(w), 0) {
			return nil, fmt.Errorf("%w: weight %d is %v, want a finite number", errModel, i, w)
		}
	}
	return &Model{f, weights}, nil
}

// Form is what the model reads. The caller does not change its slices.
func (m *Model) Form() Form { return m.form }

// Suits returns an error if the vectors of an embedder are not those that the model was trained with.
func (m *Model) Suits(embedder string, dim int) error {
	if embedder != m.form.Embedder || dim != m.form.Dim {
		return fmt.Errorf("%w: trained with embedder %s of %d dimensions, and this is %s of %d; want the same one, or a model trained with this one",
			errEmbedder, m.form.Embedder, m.form.Dim, embedder, dim)
	}
	return nil
}

// Texts are what is embedded for a prediction after the user's prompts of a conversation, the oldest first: one text for each window. Their
// vectors, one after the other, are the vector of Predict.
func (m *Model) Texts(prompts []string) []string {
	all := make([]string, len(m.form.Windows))
	for i, w := range m.form.Windows {
		all[i] = Text(prompts, w, m.form.Tokens)
	}
	return all
}

// Join appends the vectors of the texts to dst, as Predict reads them. A text without a vector is one of zeros.
func (m *Model) Join(dst []float32, vectors [][]float32) []float32 {
	for i := range m.form.Windows {
		if i < len(vectors) && len(vectors[i]) == m.form.Dim {
			dst = append(dst, vectors[i]...)
			continue
		}
		for range m.form.Dim {
			dst = append(dst, 0)
		}
	}
	return dst
}

// Predict is the probability that the user asks again after a turn, which is 1 for the first; it is in (0, 1), so that it has odds. It takes
// some 100 µs at two windows of 384 dimensions, and no allocation. The vector comes from Join. One of another length counts as zeros, so that
// the turn alone decides.
func (m *Model) Predict(vector []float32, turn int) float64 {
	z := m.form.Slope*m.logit(vector, turn) + m.form.TurnSlope*m.form.odds(turn) + m.form.Intercept
	if math.IsNaN(z) { // weights so large that sums are infinite
		z = 0
	}
	return min(max(1/(1+math.Exp(-z)), certain), 1-certain)
}

// certain is how near a predicted probability may come to 0 or 1.
const certain = 1e-6

// odds are the log odds of a turn.
func (f *Form) odds(turn int) float64 {
	if len(f.Turns) == 0 {
		return 0
	}
	return f.Turns[min(max(turn, 1), len(f.Turns))-1]
}

// TurnInput is the input for the number of a turn: its logarithm, ten times as large as the largest number of a vector of length 1, so that a
// few epochs learn it. Of the factors 1, 8, 10 and 30, the higher ones were best where the turn decides most (OASST1).
func TurnInput(turn int) float32 {
	return float32(turnScale * math.Log1p(float64(max(turn, 0))) / math.Log(32))
}

const turnScale = 10

func (m *Model) logit(vector []float32, turn int) float64 {
	var a, b [mostWidth]float32
	in, out := a[:0], b[:0]
	if len(vector) != m.form.Layers[0]-1 {
		vector = nil
	}
	w := m.weights
	for l := 1; l < len(m.form.Layers); l++ {
		wide, n := m.form.Layers[l-1], m.form.Layers[l]
		out = out[:n]
		for o := range out {
			row := w[o*wide : (o+1)*wide]
			if l == 1 {
				out[o] = dot(row[:len(vector)], vector) + row[wide-1]*TurnInput(turn)
			} else {
				out[o] = dot(row, in)
			}
			out[o] += w[n*wide+o]
			if l < len(m.form.Layers)-1 {
				out[o] = max(out[o], 0)
			}
		}
		w = w[n*(wide+1):]
		in, out = out, in[:0]
	}
	return float64(in[0])
}

// dot has four sums, so that additions need not wait for each other.
func dot(a, b []float32) float32 {
	var s, t, u, v float32
	i := 0
	for b = b[:len(a)]; i+4 <= len(a); i += 4 {
		s += a[i] * b[i]
		t += a[i+1] * b[i+1]
		u += a[i+2] * b[i+2]
		v += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s += a[i] * b[i]
	}
	return (s + t) + (u + v)
}
