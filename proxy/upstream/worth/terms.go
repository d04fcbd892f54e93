package worth

import (
	"math"
	"time"

	"reprise/proxy/upstream/dialect"
)

// Terms are what an upstream asks for a prefix that it keeps, in the price of as many tokens without a cache.
type Terms struct {
	Retain dialect.Retain
	Life   time.Duration // since the last use
	Write  float64       // e.g. 1.25
	Read   float64       // e.g. 0.1
	Always bool          // the upstream writes without being asked, unless a request forbids it
}

const margin = 0.05

// Decide returns the retention that costs least where requests of a prefix come to the engine at a rate per second.
//
// A write pays if the saving of a later read, times its probability within the life, exceeds the extra price of the write:
// p(1−read) > write−1 with p = 1−exp(−rate × life). For a life of an hour that is asked of the expected reads, rate × life, as p cannot
// exceed 1. Of several that pay, the first is chosen, unless a later one is cheaper by more than a twentieth in the price of a request in the
// long run, p × read + (1−p) × write (each use begins another life): the text that a conversation adds is written with every request, which
// that price leaves out. Where none pays, an upstream that would write by itself is asked not to.
//
// terms come in the order of their lives.
func Decide(rate float64, terms []Terms) dialect.Retain {
	best, price := dialect.RetainDefault, math.Inf(1)
	always := false
	for _, t := range terms {
		always = always || t.Always
		uses := rate * t.Life.Seconds()
		p := -math.Expm1(-uses)
		reads := p
		if t.Write-1 >= 1-t.Read { // no single read pays for the write
			reads = uses
		}
		if reads*(1-t.Read) <= t.Write-1 {
			continue
		}
		if c := p*t.Read + (1-p)*t.Write; c < price-margin {
			best, price = t.Retain, c
		}
	}
	if math.IsInf(price, 1) && always {
		return dialect.RetainOff
	}
	return best
}
