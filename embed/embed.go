// Package embed turns text into vectors and compares them.
//
// The package itself is pure: no lock, clock, goroutine or I/O. Embedders that call a server are packages of their own below
// it.
package embed

import "context"

// Embedder turns text into vectors of one space.
type Embedder interface {
	// Space names the vector space: embedder, version, dimension and everything else that changes a vector. Vectors of two spaces
	// are never compared.
	Space() string
	// Dim is the length of every vector.
	Dim() int
	// Embed returns one unit vector per text, in order; the caller owns them. A text without any feature (empty, or only
	// punctuation) has a nil vector: it cannot be compared. The call ends early with ctx.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Thresholds are the cosine gates that suit this space.
	Thresholds() Thresholds
}

// Thresholds are the three cosine gates: Hit > Route, and Edge for a dependency between two requests. If Route were as high
// as Hit, every topic would have exactly one member: a request that passes the route gate would be a hit on the anchor.
type Thresholds struct {
	Hit, Route, Edge float64
}
