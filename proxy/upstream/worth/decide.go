package worth

import (
	"math"
	"time"

	"reprise/proxy/upstream/dialect"
)

// margin is how much cheaper, in prices of a token that is not kept, a longer life must be than a shorter one.
const margin = 0.05

// Decide returns the retention that costs least at an upstream where requests of a prefix arrive at a rate per second.
//
// A write pays if the saving of a later read, times its probability within the life, exceeds the extra price of the write:
// p(1−read) > write−1 with p = 1−exp(−rate × life). Where no single read can pay for the write, as with one at twice the price, that is
// asked of the expected reads, rate × life. Of two lives that pay, the short one is chosen, unless the long one is cheaper by more than a
// margin in the price of a request in the long run, p × read + (1−p) × write (each use begins another life): the text that a conversation
// adds is written with every request, which that price leaves out. Where none pays, an upstream that would write by itself is asked not to.
func Decide(rate float64, c dialect.Caps) dialect.Retain {
	if !c.Retain {
		return dialect.RetainDefault
	}
	short, shortPays := price(rate, c.Life, c.Write, c.Read)
	long, longPays := price(rate, c.LifeLong, c.WriteLong, c.Read)
	switch {
	case longPays && (!shortPays || long < short-margin):
		return dialect.RetainLong
	case shortPays:
		return dialect.RetainShort
	case c.Always:
		return dialect.RetainOff
	}
	return dialect.RetainDefault
}

// price is what a request costs in the long run, and whether it pays to write.
func price(rate float64, life time.Duration, write, read float64) (cost float64, pays bool) {
	uses := rate * life.Seconds()
	p := -math.Expm1(-uses)
	reads := p
	if write-1 >= 1-read {
		reads = uses
	}
	return p*read + (1-p)*write, reads*(1-read) > write-1
}
