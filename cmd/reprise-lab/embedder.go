package main

import (
	"fmt"
	"strings"

	"reprise/embed"
	"reprise/embed/model2vec"
	"reprise/internal/suggest"
)

const embedderBuiltin = "builtin"

// openEmbedder returns the embedder of --embedder; more are names that the caller serves by itself, for the error.
func openEmbedder(name string, more ...string) (embed.Embedder, error) {
	if name == embedderBuiltin {
		return embed.NewBuiltin(), nil
	}
	if dir, ok := strings.CutPrefix(name, "model2vec:"); ok {
		static, err := model2vec.Open(dir)
		if err != nil {
			return nil, err
		}
		return static, nil
	}
	known := append(append([]string{embedderBuiltin}, more...), "model2vec:DIR")
	return nil, fmt.Errorf("--embedder %q: want one of %s%s", name, strings.Join(known, ", "), suggest.DidYouMean(name, known))
}
