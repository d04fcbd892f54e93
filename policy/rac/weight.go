package rac

import (
	"math"

	"reprise/internal/container"
)

// massTime turns a time into the mass of one request at it, 2^(alpha·t), whose exponent grows with t for ever: now and
// then everything is counted from a later origin.
type massTime struct {
	alpha  float64
	now    int64   // the latest time seen
	base   int64   // the time from which alpha·t counts; there it is
	whole  int64   // this many bits
	offset float64 // and a fraction
}

// newBase bounds alpha·(t-base) in bits, so that its fraction keeps 42 of them.
const newBase = 1 << 10

// newOrigin bounds the exponents.
const newOrigin = 1 << 30

// grid is the precision to which values are compared where alpha is no whole number. Masses that are equal on paper then
// differ by rounding when they were reached on different ways; on the grid they tie, as they must. With a whole alpha
// sums of powers of 2 are exact already.
const grid = 1 << 30

// advance notes the time of a request.
func (t *topicTable) advance(at int64) { t.time.now = max(t.time.now, at) }

// weight returns 2^(alpha·at), the mass of one request.
func (t *topicTable) weight(at int64) scaled {
	t.advance(at)
	m := &t.time
	if m.bits(at) >= newBase {
		t.rebase(at)
	}
	bits := m.bits(at)
	whole := math.Floor(bits)
	return scale(math.Exp2(bits-whole), m.whole+int64(whole))
}

// log2 returns the logarithm of weight, and changes nothing.
func (m *massTime) log2(at int64) float64 { return m.bits(at) + float64(m.whole) }

// bits returns alpha·at, less the whole bits at the base.
func (m *massTime) bits(at int64) float64 {
	return m.alpha*float64(at-m.base) + m.offset
}

func (t *topicTable) rebase(at int64) {
	m := &t.time
	bits := min(m.bits(at), 1<<62)
	whole := math.Floor(bits)
	m.base, m.offset = at, bits-whole
	m.whole += int64(whole)
	if m.whole > newOrigin {
		t.lower(m.whole)
		m.whole = 0
	}
}

// lower takes by from all exponents. It costs O(topics) once in 2^30/alpha requests.
func (t *topicTable) lower(by int64) {
	for i := range t.all {
		x := &t.all[i]
		x.set(scale(x.mant, int64(x.exp)-by))
	}
	for _, h := range []*container.Heap{&t.live, &t.ghosts} {
		for i, n := range h.Nodes {
			h.Nodes[i] = t.rank(n.Item)
		}
		h.Order()
	}
}

// round puts v on the grid where its ties need it.
func (m *massTime) round(v scaled) scaled {
	if m.alpha == math.Trunc(m.alpha) {
		return v
	}
	return scale(math.RoundToEven(v.mant*grid)/grid, int64(v.exp))
}
