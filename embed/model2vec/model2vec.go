// Package model2vec embeds texts with a static model of the Model2Vec format, such as the potion models: the vector of a text is the mean of
// the vectors of its tokens. It needs a folder with model.safetensors and tokenizer.json, no server, and some tens of microseconds a
// prompt. The vectors are normalised, whatever config.json says.
//
// A mean of tokens has no word order and little of negation: similarities are of meaning, and the judge of package topics/reuse has to
// decide. Tokenizers of the types WordPiece and Unigram are read, others are refused by their name.
package model2vec

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"reprise/embed"
)

// errModel is wrapped by the errors of Open that are about the content of a file.
var errModel = errors.New("no model that can be used")

const (
	maxTokens = 512     // of a text; the rest is not read
	maxFile   = 4 << 30 // bytes
)

// Embedder is a model in memory. It is safe for concurrent use.
type Embedder struct {
	space   string
	dim     int
	table   *table
	tokens  tokenizer
	longest int // characters of a text that are read
}

// tokenizer cuts a text into the ids of its tokens.
type tokenizer interface {
	// tokenize appends the ids, without those of unknown tokens, and stops after some more than most.
	tokenize(ids []int, text string, most int) []int
}

// Open reads a model from a folder, also of the layout of Sentence Transformers. It takes about the time to read the files, and their size
// in memory.
func Open(dir string) (*Embedder, error) {
	files, err := locate(dir)
	if err != nil {
		return nil, fmt.Errorf("open model: %w", err)
	}
	e, err := load(files)
	if err != nil {
		return nil, fmt.Errorf("open model %s: %w", dir, err)
	}
	return e, nil
}

// files are the paths of a model.
type files struct{ weights, tokenizer string }

// locate finds the files in the layouts that are published.
func locate(dir string) (f files, err error) {
	if _, err := os.Stat(dir); err != nil {
		return f, err
	}
	find := func(names ...string) string {
		for _, n := range names {
			path := filepath.Join(dir, filepath.FromSlash(n))
			if s, err := os.Stat(path); err == nil && s.Mode().IsRegular() {
				return path
			}
		}
		return ""
	}
	f.weights = find("model.safetensors", "0_StaticEmbedding/model.safetensors")
	f.tokenizer = find("tokenizer.json", "0_StaticEmbedding/tokenizer.json")
	switch {
	case f.weights == "":
		return f, fmt.Errorf("%s has no model.safetensors: want the folder of a Model2Vec model", dir)
	case f.tokenizer == "":
		return f, fmt.Errorf("%s has no tokenizer.json: want the folder of a Model2Vec model", dir)
	}
	return f, nil
}

func load(f files) (*Embedder, error) {
	sum := sha256.New()
	read := func(path string) ([]byte, error) {
		s, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if s.Size() > maxFile {
			return nil, fmt.Errorf("%w: %s has %d bytes, at most %d are read", errModel, filepath.Base(path), s.Size(), maxFile)
		}
		b, err := os.ReadFile(path)
		fmt.Fprintf(sum, "%d\n", len(b))
		sum.Write(b)
		return b, err
	}
	weights, err := read(f.weights)
	if err != nil {
		return nil, err
	}
	text, err := read(f.tokenizer)
	if err != nil {
		return nil, err
	}
	e := &Embedder{}
	if err := e.decode(weights, text); err != nil {
		return nil, err
	}
	e.space = fmt.Sprintf("model2vec %x, %d", sum.Sum(nil)[:8], e.dim)
	return e, nil
}

// decode makes the table and the tokenizer, and checks that they fit.
func (e *Embedder) decode(weights, text []byte) (err error) {
	if e.table, err = newTable(weights); err != nil {
		return fmt.Errorf("%w: model.safetensors: %w", errModel, err)
	}
	var pieces []string
	if e.tokens, pieces, err = newTokenizer(text); err != nil {
		return fmt.Errorf("%w: tokenizer.json: %w", errModel, err)
	}
	if n := e.table.tokens(); len(pieces) > n {
		return fmt.Errorf("%w: tokenizer.json has %d tokens, model.safetensors vectors for %d", errModel, len(pieces), n)
	}
	e.dim, e.longest = e.table.dim, maxTokens*median(pieces)
	return nil
}

// median is the median length of the tokens in characters, at least 1.
func median(pieces []string) int {
	var lengths []int
	for _, p := range pieces {
		if p != "" {
			lengths = append(lengths, utf8.RuneCountInString(p))
		}
	}
	if len(lengths) == 0 {
		return 1
	}
	slices.Sort(lengths)
	return max(lengths[len(lengths)/2], 1)
}

// Space implements embed.Embedder: the digest of the files and the length of the vectors.
func (e *Embedder) Space() string { return e.space }

// Dim implements embed.Embedder.
func (e *Embedder) Dim() int { return e.dim }

// Thresholds implements embed.Embedder. No model was measured here, and a mean of tokens is near where a word differs: only what is nearly
// equal is trusted from the start. With a lower gate the rest is compared with answers of the upstream before it serves.
func (e *Embedder) Thresholds() embed.Thresholds {
	return embed.Thresholds{Hit: 0.97, Route: 0.7, Edge: 0.5}
}

// Embed implements embed.Embedder. Of a text more than 512 tokens long, only the first 512 count, and two texts that differ only behind
// them would have equal vectors: it has a nil vector, as one without a known token has.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	var ids []int
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if utf8.RuneCountInString(text) > e.longest || !strings.ContainsFunc(text, feature) {
			continue
		}
		if ids = e.tokens.tokenize(ids[:0], text, maxTokens); len(ids) == 0 || len(ids) > maxTokens {
			continue
		}
		vectors[i] = e.mean(ids)
	}
	return vectors, nil
}

// mean is the unit vector in the direction of the mean of the tokens; nil where that is 0.
func (e *Embedder) mean(ids []int) []float32 {
	sum := make([]float64, e.dim)
	for _, id := range ids {
		e.table.add(sum, id)
	}
	v := make([]float32, e.dim)
	for i, x := range sum {
		v[i] = float32(x)
	}
	if !embed.Normalize(v) {
		return nil
	}
	return v
}

// feature reports whether a character makes a text one that can be compared. Models have vectors of marks, too.
func feature(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
