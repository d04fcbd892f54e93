package align

import (
	"sync/atomic"

	"reprise/proxy/upstream/prefix"
)

// figures are the sums of one application.
type figures struct {
	compared int64 // requests that were compared with an earlier one
	bytes    int64 // of them
	parted   int64 // those in which something was lost
	lost     int64 // bytes
	spots    [maxSpots]spot
	n        int
}

// spot is a place at which requests part.
type spot struct {
	difference
	classes  [classCount]int32 // requests by class
	requests int64
	bytes    int64 // lost
	last     int64 // request, by its number among those that were compared
}

const (
	maxSpots = 16 // places of one application; of more, those that cost the most are kept
	sameSpot = 64 // bytes; differences of one segment that are nearer to each other are at one place
)

// totals are the sums of all applications, by class.
type totals [classCount]struct{ requests, bytes atomic.Int64 }

// count adds a request that was compared; w is nil where it goes on where an earlier one ends.
func (f *figures) count(p *prompt, w *walk, t *totals) {
	f.compared++
	f.bytes += int64(p.bytes)
	if w == nil || w.n == 0 {
		return
	}
	f.parted++
	for i := range w.differences() {
		d := &w.found[i]
		if d.shared < minStretch {
			continue
		}
		f.lost += int64(d.shared)
		class := d.class.number()
		t[class].bytes.Add(int64(d.shared))
		s := f.spot(d)
		s.bytes += int64(d.shared)
		if s.last == f.compared { // a request counts once at a place, such as with several tools whose keys are in another order
			continue
		}
		s.last = f.compared
		s.requests++
		s.classes[class]++
		t[class].requests.Add(1)
	}
}

// spot returns the place of d, a new one instead of the cheapest where there are too many.
func (f *figures) spot(d *difference) *spot {
	to := &f.spots[min(f.n, maxSpots-1)]
	for i := range f.spots[:f.n] {
		s := &f.spots[i]
		if s.same(d) {
			if d.char < s.char {
				s.char, s.line = d.char, d.line
			}
			return s
		}
		if f.n == maxSpots && s.bytes < to.bytes {
			to = s
		}
	}
	if f.n < maxSpots {
		f.n++
	}
	*to = spot{difference: *d}
	return to
}

// same reports whether a difference is at this place. The order of tools may differ from the first one on or from a later one, and
// conversations are cut at any message.
func (s *spot) same(d *difference) bool {
	if s.kind != d.kind {
		return false
	}
	if d.class == ToolOrder || d.class == ToolSet || d.class == KeyOrder && d.kind == prefix.Tools || d.class == History {
		return s.class == d.class
	}
	return s.segment == d.segment && s.element == d.element && s.char-d.char <= sameSpot && d.char-s.char <= sameSpot
}

// looks is the class of most requests.
func (s *spot) looks() Class {
	best := 0
	for i, n := range s.classes {
		if n > s.classes[best] {
			best = i
		}
	}
	return classes[best].class
}
