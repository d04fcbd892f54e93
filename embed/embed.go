// Package embed turns text into vectors and compares them.
//
// The package itself is pure: no lock, clock, goroutine or I/O. Embedders that call a server live in packages of their
// own below it.
package embed

import "context"

// Embedder turns text into vectors of one space.
type Embedder interface {
	// Space names the vector space: embedder, version, dimension, everything that changes a vector. Vectors of two spaces
	// are never compared.
	Space() string
	// Dim is the length of every vector.
	Dim() int
	// Embed returns one unit vector per text, in order; the caller owns them. A text without any feature (empty, or only
	// punctuation) has a nil vector: there is nothing to compare. The call honours ctx.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Thresholds are the cosine gates that suit this space.
	Thresholds() Thresholds
}

// Thresholds are the three cosine gates: Hit > Route, and Edge for a dependency between two requests. Were Route as high
// as Hit, every topic would have exactly one member (a request that passed routing would already be a hit on the anchor).
type Thresholds struct {
	Hit, Route, Edge float64
}
