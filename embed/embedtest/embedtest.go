// Package embedtest is the conformance suite of embedders: it tests one against the contract of package embed.
package embedtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"reprise/embed"
)

// Run tests e, which must be ready to embed. It sends some 200 short texts.
func Run(t *testing.T, e embed.Embedder) {
	for name, test := range map[string]func(*testing.T, embed.Embedder){
		"space, dim, thresholds":            describes,
		"unit vectors in order":             ordered,
		"equal texts, equal vectors":        deterministic,
		"text without features, no vector":  empty,
		"no text, no vector":                none,
		"a cancelled context is an error":   cancelled,
		"concurrent calls":                  concurrent,
		"the caller owns the vectors":       owned,
		"nearer text, larger inner product": nearer,
	} {
		t.Run(name, func(t *testing.T) { test(t, e) })
	}
}

func must(t *testing.T, e embed.Embedder, texts ...string) [][]float32 {
	t.Helper()
	vectors, err := e.Embed(context.Background(), texts)
	if err != nil {
		t.Fatalf("Embed(%q): %v", texts, err)
	}
	if len(vectors) != len(texts) {
		t.Fatalf("Embed returned %d vectors for %d texts", len(vectors), len(texts))
	}
	return vectors
}

func describes(t *testing.T, e embed.Embedder) {
	if e.Space() == "" || e.Dim() <= 0 {
		t.Errorf("space %q, dim %d", e.Space(), e.Dim())
	}
	if g := e.Thresholds(); !(0 < g.Edge && 0 < g.Route && g.Route < g.Hit && g.Hit <= 1) {
		t.Errorf("thresholds %+v", g)
	}
}

func ordered(t *testing.T, e embed.Embedder) {
	var texts []string
	for i := range 100 { // more than one batch of any server
		texts = append(texts, fmt.Sprintf("what is the price of item number %d", i))
	}
	for i, v := range must(t, e, texts...) {
		if err := embed.Check(v, e.Dim()); err != nil {
			t.Fatalf("text %d: %v", i, err)
		}
		if i%25 == 0 && !same(v, must(t, e, texts[i])[0]) {
			t.Errorf("the vector of text %d depends on the batch", i)
		}
	}
}

// same ignores the last digits: servers compute a batch in another order than a single text.
func same(a, b []float32) bool { return len(a) == len(b) && embed.Dot(a, b) > 0.9999 }

func deterministic(t *testing.T, e embed.Embedder) {
	v := must(t, e, "twice the same words", "twice the same words")
	if !same(v[0], v[1]) {
		t.Error("one text has two vectors")
	}
}

func empty(t *testing.T, e embed.Embedder) {
	texts := []string{"", "first", " \t\n", "?!...", "last"}
	for i, v := range must(t, e, texts...) {
		if want := i == 1 || i == 4; want != (v != nil) {
			t.Errorf("%q: vector %v, want %v", texts[i], v != nil, want)
		}
	}
}

func none(t *testing.T, e embed.Embedder) { must(t, e) }

func cancelled(t *testing.T, e embed.Embedder) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if v, err := e.Embed(ctx, []string{"too late"}); !errors.Is(err, context.Canceled) || v != nil {
		t.Errorf("got %v, %v", v, err)
	}
}

func concurrent(t *testing.T, e embed.Embedder) {
	texts := []string{"how do I open an account", "the weather in Oslo"}
	want := must(t, e, texts...)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := e.Embed(context.Background(), texts)
			if err != nil || !same(got[0], want[0]) || !same(got[1], want[1]) {
				t.Errorf("a concurrent call differs: %v", err)
			}
		})
	}
	wg.Wait()
}

func owned(t *testing.T, e embed.Embedder) {
	v := must(t, e, "mine")[0]
	kept := slices.Clone(v)
	clear(v)
	if !same(must(t, e, "mine")[0], kept) {
		t.Error("changing a vector changed the next one")
	}
}

func nearer(t *testing.T, e embed.Embedder) {
	v := must(t, e, "reset my account password", "how to reset the password of my account", "boil an egg for breakfast")
	if near, far := embed.Dot(v[0], v[1]), embed.Dot(v[0], v[2]); near <= far {
		t.Errorf("near %.3f, far %.3f", near, far)
	}
}
