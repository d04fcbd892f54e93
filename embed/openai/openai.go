// Package openai is the embedder that calls a server: OpenAI, Ollama, TEI, vLLM or any other that serves /v1/embeddings.
package openai

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode"

	goopenai "github.com/sashabaranov/go-openai"

	"reprise/embed"
)

var (
	// errServer: no usable answer came. Errors never quote the text that was sent, nor the server's message, which may
	// contain it.
	errServer = errors.New("embedding server")
	// errAnswer: the answer is wrong: too few vectors, another length, a zero vector.
	errAnswer = errors.New("bad embedding answer")
	// errUndialled: the length of a vector is not yet known, see Dial and Former.
	errUndialled = errors.New("embedder not dialled")
)

const (
	minDim = 2    // the fewest numbers that have a direction
	maxDim = 8192 // bounds the memory that an answer can take; the longest known models have 4096

	// maxText is the longest text in bytes, prefix not counted, some 512 tokens of English, which is the window of most local models. Many servers
	// cut a text to the window without an error, and texts that differ only after the cut would have equal vectors.
	maxText = 2048
	// mostTexts is the most texts in one request, the limit that TEI sets.
	mostTexts = 32
)

// Embedder calls one model of one server. It is safe for concurrent use.
type Embedder struct {
	o        Options
	client   *goopenai.Client
	dim      atomic.Int64 // 0 until known
	answered atomic.Bool
}

var _ embed.Remote = (*Embedder)(nil)

// New checks the options and sends nothing. Where o.Dimensions is 0, Embed works after the first successful Dial, or after Former.
func New(o Options) (*Embedder, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	config := goopenai.DefaultConfig(o.Key)
	config.BaseURL = o.BaseURL
	config.HTTPClient = limited{o.HTTPClient, answerBytes(mostTexts)}
	e := &Embedder{o: o, client: goopenai.NewClientWithConfig(config)}
	e.dim.Store(int64(o.Dimensions))
	return e, nil
}

// Dial embeds one word to find out, or to check, the length of a vector. Only ctx bounds it, not Options.Timeout: a local
// server may have to load the model first. It may be called again until it succeeds; after that it is a health check.
func (e *Embedder) Dial(ctx context.Context) error {
	vectors, err := e.ask(ctx, []string{"probe"})
	if err != nil {
		return err
	}
	n := len(vectors[0])
	if n < minDim {
		return fmt.Errorf("%w: %d dimensions", errAnswer, n)
	}
	if !e.dim.CompareAndSwap(0, int64(n)) && e.Dim() != n {
		return e.wrongLength(n)
	}
	e.answered.Store(true)
	return nil
}

// Answered reports whether a Dial has succeeded.
func (e *Embedder) Answered() bool { return e.answered.Load() }

func (e *Embedder) wrongLength(n int) error {
	return fmt.Errorf("%w: %w: %d dimensions, want %d", errAnswer, embed.ErrDim, n, e.Dim())
}

// Former takes over the length that the name of a space has, as Space has made it, where that space is of this model and prefix and the
// length is not known. It returns Space and Dim then, and otherwise "".
func (e *Embedder) Former(space string) (name string, dim int) {
	digits, of := strings.CutPrefix(space, "openai/"+e.o.Model+"/")
	digits, same := strings.CutSuffix(digits, fmt.Sprintf("/%q", e.o.Prefix))
	n, err := strconv.Atoi(digits)
	if !of || !same || err != nil || n < minDim || n > maxDim || !e.dim.CompareAndSwap(0, int64(n)) {
		return "", 0
	}
	return e.Space(), n
}

// Space contains model, length and prefix, not the server: several may serve the same model. It is "" while the length is not known.
func (e *Embedder) Space() string {
	if e.Dim() == 0 {
		return ""
	}
	return fmt.Sprintf("openai/%s/%d/%q", e.o.Model, e.Dim(), e.o.Prefix)
}

// Dim is 0 until it is known, see Dial.
func (e *Embedder) Dim() int { return int(e.dim.Load()) }

// Thresholds are those of the options.
func (e *Embedder) Thresholds() embed.Thresholds { return e.o.Thresholds }

// Embed sends the texts in batches, one after the other, each within Options.Timeout. A text without a letter, digit or
// pictograph, and one over maxText, is never sent and has a nil vector. On an error there are no vectors at all.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if e.Dim() == 0 {
		return nil, errUndialled
	}
	out := make([][]float32, len(texts))
	var batch []string
	var places []int // in out, of each text of the batch
	for i, text := range texts {
		if len(text) <= maxText && strings.ContainsFunc(text, feature) {
			batch, places = append(batch, e.o.Prefix+text), append(places, i)
		}
		if len(batch) < mostTexts && i < len(texts)-1 || len(batch) == 0 {
			continue
		}
		vectors, err := e.askInTime(ctx, batch)
		if err != nil {
			return nil, err
		}
		for k, v := range vectors {
			out[places[k]] = v
		}
		batch, places = batch[:0], places[:0]
	}
	return out, ctx.Err()
}

// feature reports whether a server can make a vector of r.
func feature(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.So, r)
}

func (e *Embedder) askInTime(ctx context.Context, batch []string) ([][]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, e.o.Timeout)
	defer cancel()
	vectors, err := e.ask(ctx, batch)
	if err != nil {
		return nil, err
	}
	for _, v := range vectors {
		if len(v) != e.Dim() {
			return nil, e.wrongLength(len(v))
		}
	}
	return vectors, nil
}
