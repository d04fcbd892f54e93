package haz

import "math"

// The features of an entry, all that are times or decay relative to the capacity C. lb(x) = min(23, floor(2·log2(1+x))).
const (
	featureAge    = iota // lb(32·age/C), age since the last use
	featureFreq          // min(12, uses)
	featureCRF           // lb(4·uses, each halved every 4C requests)
	featureSlow          // lb(visits of the topic, halved every 2C)
	featureFast          // lb(4·visits of the topic, halved every C/10)
	featureIdle          // lb(32·(time since the topic's last visit)/C)
	featureVisits        // lb(visits of the topic since the last use)
	featureWidth         // lb(distinct entries of the topic)
	featureTurn          // min(3, position in the conversation)
	featureBefore        // distinct entries that it came after, see follow
	featureAfter         // distinct entries that came after it
	featureGap           // lb(32·gap/C), gap the time between the last two uses, at least 1; 0: one use
	featureHeld          // 1: another policy holds the entry, see Mark
	features
)

// jointed is where a point has the cell of gap and age together: whether an entry is due depends on both. 0 is one use.
const (
	jointed    = features
	jointGaps  = 8
	jointAges  = 16
	jointCells = 256 // more than there are, so that the look-up is free of checks
)

// jointCell is the cell of two buckets.
func jointCell(gap, age uint8) uint8 {
	if gap == 0 {
		return 0
	}
	return uint8(1 + int(gap)*jointGaps/buckets*jointAges + int(age)*jointAges/buckets)
}

const (
	buckets = 24
	rowLen  = 32 // a power of two makes the look-up free of checks
)

type point [features + 1]uint8

// forecast are a figure for each of the two horizons that HAZ looks ahead.
type forecast [2]float32

const (
	far       = 0 // C
	near      = 1 // C/hazNear
	nearShare = 8
)

// model is a logistic regression for each horizon: the logit of v is linear in one indicator per bucket. It climbs the
// likelihood by AdaGrad: a step is lr·g/sqrt(1+sum of g²), g = wanted - foreseen, and 0.3 of it for the bias. The start is
// LFU's and RAC's order, with little of LRU's, so that the first victims make sense.
type model struct {
	rate   float32 // of learning
	bias   forecast
	biasG  forecast
	weight [features][rowLen]forecast
	square [features][rowLen]forecast // sum of g²
	joint  [jointCells]forecast
	jointG [jointCells]forecast
}

func newModel(lr float64) model {
	m := model{rate: float32(lr), bias: forecast{-1, -1 - logNear}}
	for k := range buckets {
		for _, start := range []struct {
			feature int
			slope   float32
		}{{featureAge, -0.02}, {featureFreq, freqStart}, {featureCRF, 0.15}, {featureSlow, 0.10}} {
			w := start.slope * float32(k)
			m.weight[start.feature][k] = forecast{w, w}
		}
	}
	m.weight[featureHeld][1] = forecast{heldStart, heldStart}
	return m
}

// The start of two features, in the logit. Mean points above the best baseline of each cell, and worst cell, on tuning seeds: texts with a
// slope of 0 +.48, -.78, with 0.05 +.52, -.33, with 0.08 +.59, -.15, with 0.12 +.59, -.38; the median of what is learned is 0.05. What another
// policy holds learned from 0 comes too late for traces of some thousands of requests: without it recorded traces have -.54, -5.4
// instead of -.10, -2.0; at 2 texts lose 0.3.
const (
	freqStart = 0.08 // of each use
	heldStart = 1
)

const logNear = 3 * math.Ln2

// logits are those of v at p. A loop would be slower by half.
func (m *model) logits(p *point) forecast {
	w := &m.weight
	a, b, c, d := &w[0][p[0]%rowLen], &w[1][p[1]%rowLen], &w[2][p[2]%rowLen], &w[3][p[3]%rowLen]
	e, f, g, h := &w[4][p[4]%rowLen], &w[5][p[5]%rowLen], &w[6][p[6]%rowLen], &w[7][p[7]%rowLen]
	i, j, k := &w[8][p[8]%rowLen], &w[9][p[9]%rowLen], &w[10][p[10]%rowLen]
	l, n, o := &w[11][p[11]%rowLen], &w[12][p[12]%rowLen], &m.joint[p[jointed]]
	return forecast{
		m.bias[0] + (a[0] + b[0] + c[0] + d[0]) + (e[0] + f[0] + g[0] + h[0]) + (i[0] + j[0] + k[0] + l[0]) + (n[0] + o[0]),
		m.bias[1] + (a[1] + b[1] + c[1] + d[1]) + (e[1] + f[1] + g[1] + h[1]) + (i[1] + j[1] + k[1] + l[1]) + (n[1] + o[1]),
	}
}

// gain is the logarithm of what room brings for as long as it is given to an entry at p, the better of both horizons.
func (m *model) gain(p *point) float32 {
	z := m.logits(p)
	return max(z[far], z[near]+logNear)
}

// foreseen is v at p.
func (m *model) foreseen(p *point) forecast {
	z := m.logits(p)
	for i := range z {
		z[i] = float32(1 / (1 + halved(float64(z[i])*math.Log2E)))
	}
	return z
}

// correct climbs towards what v at p, which is foreseen there, should have been.
func (m *model) correct(p *point, foreseen, wanted forecast) {
	g := foreseen
	for i := range g {
		g[i] = wanted[i] - g[i]
	}
	for i, k := range p[:features] {
		m.climb(&m.weight[i][k%rowLen], &m.square[i][k%rowLen], g)
	}
	m.climb(&m.joint[p[jointed]], &m.jointG[p[jointed]], g)
	for j := range g {
		m.biasG[j] += g[j] * g[j]
		m.bias[j] += 0.3 * m.step(g[j], m.biasG[j])
	}
}

// climb is a step of one weight.
func (m *model) climb(w, square *forecast, g forecast) {
	for j := range g {
		square[j] += g[j] * g[j]
		w[j] += m.step(g[j], square[j])
	}
}

func (m *model) step(g, square float32) float32 {
	return m.rate * g / float32(math.Sqrt(float64(1+square)))
}

// clock has the lengths of time at a capacity.
type clock struct {
	now             int64
	scale           float64 // of ages
	pause           int64   // the longest that a conversation makes
	waits           [2]decay
	crf, slow, fast decay
}

func newClock(capacity int) clock {
	c := float64(max(capacity, 1))
	return clock{
		scale: 32 / c, pause: int64(max(1, c/10)),
		waits: [2]decay{far: newDecay(c), near: newDecay(c / nearShare)},
		crf:   newDecay(4 * c), slow: newDecay(2 * c), fast: newDecay(c / 10),
	}
}

// decay halves every halfLife requests.
type decay struct{ perSeq, steps float64 }

func newDecay(halfLife float64) decay { return decay{1 / halfLife, decaySteps / halfLife} }

const (
	decayBits  = 8
	decaySteps = 1 << decayBits
)

var halves = func() (t [decaySteps]uint64) {
	for i := range t {
		t[i] = math.Float64bits(math.Exp2(-float64(i) / decaySteps))
	}
	return t
}()

// halved is 2^-x within 1e-15 of it, for x from -1000 to 1000: by a table and a Taylor series of what is left, in a third of the time
// of math.Exp2.
func halved(x float64) float64 {
	x = min(max(x, -1000), 1000)
	n := int64(x * decaySteps)
	y := (float64(n)/decaySteps - x) * math.Ln2
	series := 1 + y*(1+y*(1./2+y*(1./6+y*(1./24+y*(1./120)))))
	return math.Float64frombits(halves[n&(decaySteps-1)]-uint64(n>>decayBits)<<52) * series
}

// over is the factor after a time. Sums are kept with this one.
func (d decay) over(t int64) float64 { return halved(float64(max(t, 0)) * d.perSeq) }

// near is over within 0.3 %, for a look only: its error must not add up.
func (d decay) near(t float64) float64 {
	x := uint64(min(t*d.steps, 500*decaySteps))
	return math.Float64frombits(halves[x%decaySteps] - x/decaySteps<<52)
}

// lb is the bucket of x >= 0: the exponent of (1+x)² is floor(2·log2(1+x)).
func lb(x float64) uint8 {
	x++
	return uint8(min(buckets-1, math.Float64bits(x*x)>>52-1023))
}
