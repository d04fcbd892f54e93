package files

import (
	"math/rand/v2"

	"reprise/internal/container"
)

// note marks a trace of which a generator made a part.
func (b *builder) note(what string) {
	b.trace.Generated = true
	b.trace.Note = what
}

// place adds a start to the times of each conversation, whose times begin at 0. Starts are a Poisson process in the order of spans, at
// the rate that keeps Options.Active conversations active; one that would be more than these waits for the end of another (paper 004
// §A4 asks for fewer active conversations than a target).
func (b *builder) place(spans []span) {
	random := rand.New(rand.NewPCG(b.o.Seed, 0x7374617274))
	stop := make([]float64, len(spans)) // when each ends
	mean := 0.0
	for _, s := range spans {
		mean += s.seconds / float64(len(spans))
	}
	ends := container.Heap{Place: make([]uint32, len(spans))}
	at := 0.0
	for i, s := range spans {
		if i > 0 {
			at += random.ExpFloat64() * mean / float64(b.o.Active)
		}
		for len(ends.Nodes) > 0 {
			first := ends.Nodes[0].Item
			if stop[first] > at && len(ends.Nodes) < b.o.Active {
				break
			}
			at = max(at, stop[first])
			ends.Remove(first)
		}
		stop[i] = at + s.seconds
		ends.Push(container.Node{Major: container.Rank(stop[i]), Minor: uint32(i), Item: uint32(i)})
		for j := s.from; j < s.to; j++ {
			b.trace.Requests[j].At += at
		}
	}
}
