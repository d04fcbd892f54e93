// Package openai is the embedder that calls a server: OpenAI, Ollama, TEI, vLLM or any other that serves /v1/embeddings.
package openai

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"unicode"

	goopenai "github.com/sashabaranov/go-openai"

	"reprise/embed"
)

var (
	// ErrServer: no usable answer came. Errors never quote the text that was sent, nor the server's message, which may
	// contain it.
	ErrServer = errors.New("embedding server")
	// ErrAnswer: the answer is wrong: too few vectors, another length, a zero vector.
	ErrAnswer = errors.New("bad embedding answer")
	// ErrUndialled: the length of a vector is not yet known, see Dial.
	ErrUndialled = errors.New("embedder not dialled")
)

// maxDim bounds the memory that an answer can take; the longest known models have 4096.
const maxDim = 8192

// Embedder calls one model of one server. It is safe for concurrent use.
type Embedder struct {
	o      Options
	client *goopenai.Client
	dim    atomic.Int64 // 0 until known
}

var _ embed.Embedder = (*Embedder)(nil)

// New checks the options and sends nothing. Where o.Dimensions is 0, Embed works after the first successful Dial.
func New(o Options) (*Embedder, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	config := goopenai.DefaultConfig(o.Key)
	config.BaseURL = o.BaseURL
	config.HTTPClient = limited{o.HTTPClient, answerBytes(o.Batch)}
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
	if !e.dim.CompareAndSwap(0, int64(n)) && e.Dim() != n {
		return fmt.Errorf("%w: %d dimensions, want %d", ErrAnswer, n, e.Dim())
	}
	return nil
}

// Space contains model, length and prefix, not the server: several may serve the same model.
func (e *Embedder) Space() string {
	return fmt.Sprintf("openai/%s/%d/%q", e.o.Model, e.Dim(), e.o.Prefix)
}

// Dim is 0 until it is known, see Dial.
func (e *Embedder) Dim() int { return int(e.dim.Load()) }

// Thresholds are those of the options.
func (e *Embedder) Thresholds() embed.Thresholds { return e.o.Thresholds }

// Embed sends the texts in batches, one after the other, each within Options.Timeout. A text without a letter, digit or
// pictograph, and one over Options.MaxText, is never sent and has a nil vector. On an error there are no vectors at all.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if e.Dim() == 0 {
		return nil, ErrUndialled
	}
	out := make([][]float32, len(texts))
	var batch []string
	var places []int // in out, of each text of the batch
	for i, text := range texts {
		if len(text) <= e.o.MaxText && strings.ContainsFunc(text, feature) {
			batch, places = append(batch, e.o.Prefix+text), append(places, i)
		}
		if len(batch) < e.o.Batch && i < len(texts)-1 || len(batch) == 0 {
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
			return nil, fmt.Errorf("%w: %d dimensions, want %d", ErrAnswer, len(v), e.Dim())
		}
	}
	return vectors, nil
}
