package rac

import (
	"math"

	"reprise/internal/container"
)

// scaled is the number mant·2^exp, with mant in [0.5, 1), or 0, or +Inf. Numbers in this form are ordered by exp, then
// mant. What is too small for an exponent becomes the smallest such number: old things tie.
type scaled struct {
	mant float64
	exp  int32
}

// scale returns mant·2^exp.
func scale(mant float64, exp int64) scaled {
	switch {
	case math.IsInf(mant, 1):
		return scaled{mant, math.MaxInt32}
	case mant == 0:
		return scaled{0, math.MinInt32}
	}
	m, e := math.Frexp(mant)
	if exp += int64(e); exp < math.MinInt32 {
		return scaled{0.5, math.MinInt32}
	}
	return scaled{m, int32(min(exp, math.MaxInt32))}
}

// node returns the rank of the number in a heap: the exponent, then the 53 bits of the mantissa. Below all of one exponent is
// 0, above is +Inf.
func (a scaled) node(item uint32) container.Node {
	var mant uint64
	switch {
	case math.IsInf(a.mant, 1):
		mant = 1 << 53
	case a.mant != 0:
		mant = 1<<52 | math.Float64bits(a.mant)&(1<<52-1)
	}
	const low = 22 // bits in Minor
	return container.Node{
		Major: uint64(uint32(a.exp)^1<<31)<<32 | mant>>low, Minor: uint32(mant & (1<<low - 1)), Item: item,
	}
}

func (a scaled) add(b scaled) scaled {
	if a.exp < b.exp {
		a, b = b, a
	}
	return scale(a.mant+math.Ldexp(b.mant, int(b.exp)-int(a.exp)), int64(a.exp))
}

func (a scaled) times(v float64) scaled {
	return scale(a.mant*v, int64(a.exp))
}

func (a scaled) log2() float64 {
	return math.Log2(a.mant) + float64(a.exp)
}

// timesExp2 returns a·2^log, rounded to the 40 bits that a logarithm preserves, so that equal TPs stay equal.
func (a scaled) timesExp2(log float64) scaled {
	log = min(max(log, math.MinInt32), math.MaxInt32)
	whole := math.Floor(log)
	p := scale(a.mant*math.Exp2(log-whole), int64(a.exp)+int64(whole))
	return scale(math.RoundToEven(p.mant*(1<<40))/(1<<40), int64(p.exp))
}
