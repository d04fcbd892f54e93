// Package embed turns text into vectors and compares them.
//
// The package itself is pure: no lock, clock, goroutine or I/O. Embedders that call a server are packages of their own below
// it.
package embed

import (
	"context"
	"errors"
)

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

// Remote is what an Embedder has beside the rest that calls a server, which may not answer yet: until it has, Space can be "" and Dim 0, and
// Embed fails then.
type Remote interface {
	// Dial asks the server for one vector, and takes over its length where that is not known: Space and Dim are set after the first success.
	// It may be called again, as a check. The error wraps ErrDim where the vector has another length than the one that is known.
	Dial(ctx context.Context) error
	// Answered reports whether a Dial has succeeded.
	Answered() bool
}

// ErrDim is wrapped by the error of a Remote whose server returns vectors of another length than Dim.
var ErrDim = errors.New("vectors of another length")

// Thresholds are the three cosine gates: Hit > Route, and Edge for a dependency between two requests. If Route were as high
// as Hit, every topic would have exactly one member: a request that passes the route gate would be a hit on the anchor.
type Thresholds struct {
	Hit, Route, Edge float64
}
