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

const (
	buckets = 24
	rowLen  = 32 // a power of two makes the look-up free of checks
)

// point is a bucket of each feature, at the bit of shifts: what an entry itself has first, then what changes with time. Gap and age are side
// by side, see joints. The highest bit is free.
type point uint64

const (
	bitFreq, bitTurn, bitHeld, bitBefore, bitAfter, bitGap         = 0, 5, 7, 10, 15, 20
	bitAge, bitCRF, bitSlow, bitFast, bitIdle, bitVisits, bitWidth = 25, 30, 35, 40, 45, 50, 55
)

var (
	shifts = [features]uint8{bitAge, bitFreq, bitCRF, bitSlow, bitFast, bitIdle, bitVisits, bitWidth, bitTurn, bitBefore, bitAfter, bitGap, bitHeld}
	masks  = [features]uint8{31, 31, 31, 31, 31, 31, 31, 31, 3, 31, 31, 31, 1}
)

// bucket returns the bucket of one feature.
func (p point) bucket(feature int) uint8 { return uint8(p>>(shifts[feature]&63)) & masks[feature] }

// The cells of gap and age together: whether an entry is due depends on both. 0 is one use.
const (
	jointGaps  = 8
	jointAges  = 16
	jointCells = 256 // more than there are, so that the look-up is free of checks
)

// joints maps each gap and age, in the bits of a point, to its cell.
var joints = func() (t [rowLen * rowLen]uint8) {
	for gap := 1; gap < buckets; gap++ {
		for age := range buckets {
			t[age*rowLen+gap] = uint8(1 + gap*jointGaps/buckets*jointAges + age*jointAges/buckets)
		}
	}
	return t
}()

// joint returns the cell of the gap and the age of p.
func (p point) joint() uint8 { return joints[p>>bitGap%(rowLen*rowLen)] }

// forecast holds a number for each of the two horizons.
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
	bias   cell
	weight [features][rowLen]cell
	joint  [jointCells]cell
}

// cell holds a weight for each horizon, and the factor of its steps, 1/sqrt(1+sum of g²).
type cell struct{ weight, pace forecast }

func newModel() model {
	m := model{rate: 0.1}
	for c := range m.cells {
		c.pace = forecast{1, 1}
	}
	m.bias.weight = forecast{-1, -1 - logNear}
	for k := range buckets {
		for _, start := range []struct {
			feature int
			slope   float32
		}{{featureAge, -0.02}, {featureFreq, freqStart}, {featureCRF, 0.15}, {featureSlow, 0.10}} {
			w := start.slope * float32(k)
			m.weight[start.feature][k].weight = forecast{w, w}
		}
	}
	m.weight[featureHeld][1].weight = forecast{heldStart, heldStart}
	return m
}

// cells yields all that is learned, in the order of a snapshot.
func (m *model) cells(yield func(*cell) bool) {
	if !yield(&m.bias) {
		return
	}
	for i := range features {
		for k := range buckets {
			if !yield(&m.weight[i][k]) {
				return
			}
		}
	}
	for k := range 1 + jointGaps*jointAges {
		if !yield(&m.joint[k]) {
			return
		}
	}
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

// logits returns the logits of v at p. It is unrolled because a loop takes 1.5 times as long.
func (m *model) logits(p point) forecast {
	w := &m.weight
	a, b := &w[featureAge][p>>bitAge%rowLen].weight, &w[featureFreq][p>>bitFreq%rowLen].weight
	c, d := &w[featureCRF][p>>bitCRF%rowLen].weight, &w[featureSlow][p>>bitSlow%rowLen].weight
	e, f := &w[featureFast][p>>bitFast%rowLen].weight, &w[featureIdle][p>>bitIdle%rowLen].weight
	g, h := &w[featureVisits][p>>bitVisits%rowLen].weight, &w[featureWidth][p>>bitWidth%rowLen].weight
	i, j := &w[featureTurn][p>>bitTurn%4].weight, &w[featureBefore][p>>bitBefore%rowLen].weight
	k, l := &w[featureAfter][p>>bitAfter%rowLen].weight, &w[featureGap][p>>bitGap%rowLen].weight
	n, o := &w[featureHeld][p>>bitHeld%2].weight, &m.joint[p.joint()].weight
	return forecast{
		m.bias.weight[0] + (a[0] + b[0] + c[0] + d[0]) + (e[0] + f[0] + g[0] + h[0]) + (i[0] + j[0] + k[0] + l[0]) + (n[0] + o[0]),
		m.bias.weight[1] + (a[1] + b[1] + c[1] + d[1]) + (e[1] + f[1] + g[1] + h[1]) + (i[1] + j[1] + k[1] + l[1]) + (n[1] + o[1]),
	}
}

// gain returns the logarithm of the value of keeping an entry with these logits, per request of the time it is kept: the higher one of both horizons.
func (z forecast) gain() float32 { return max(z[far], z[near]+logNear) }

// foreseen returns v for the logits.
func (z forecast) foreseen() forecast { return forecast{logistic(z[far]), logistic(z[near])} }

// correct moves the prediction for p from foreseen towards wanted.
func (m *model) correct(p point, foreseen, wanted forecast) {
	var g, step forecast
	for j := range g {
		g[j] = wanted[j] - foreseen[j]
		step[j] = m.rate * g[j]
		g[j] *= g[j]
	}
	for i := range m.weight {
		m.weight[i][p.bucket(i)%rowLen].climb(step, g)
	}
	m.joint[p.joint()].climb(step, g)
	for j := range step {
		step[j] *= 0.3
	}
	m.bias.climb(step, g)
}

// climb adds a step to the weights; square is g².
func (c *cell) climb(step, square forecast) {
	c.pace[0] = slower(c.pace[0], square[0])
	c.pace[1] = slower(c.pace[1], square[1])
	c.weight[0] += step[0] * c.pace[0]
	c.weight[1] += step[1] * c.pace[1]
}

// slower returns the pace after a step, pace/sqrt(1+pace²·g²) within 3 %, without a root and a division.
func slower(pace, square float32) float32 {
	u := pace * pace * square
	return pace * (1 - u*(0.5-0.207*u))
}

// logistic returns 1/(1+exp(-x)), by straight lines between the entries of a table: within 1e-5 of itself, for x from -16 to 16.
func logistic(x float32) float32 {
	y := (min(max(x, -logisticMost), logisticMost) + logisticMost) * logisticSteps
	i := int(y)
	a, b := logistics[i%len(logistics)], logistics[(i+1)%len(logistics)]
	return a + (b-a)*(y-float32(i))
}

const (
	logisticMost  = 16
	logisticSteps = 64
)

var logistics = func() (t [4 * logisticMost * logisticSteps]float32) {
	for i := range t {
		t[i] = float32(1 / (1 + math.Exp(logisticMost-float64(i)/logisticSteps)))
	}
	return t
}()

// clock holds the present time and the time constants, which depend on the capacity.
type clock struct {
	now             int64
	scale           float64 // of ages
	pause           uint32  // the longest that a conversation makes
	waits           [2]decay
	crf, slow, fast decay
}

func newClock(capacity int) clock {
	c := float64(max(capacity, 1))
	return clock{
		scale: 32 / c, pause: uint32(min(max(1, c/10), math.MaxUint32)),
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

// halved returns 2^-x within 1e-15 of it, for x from -1000 to 1000: by a table and a Taylor series of what is left, in a third of the time
// of math.Exp2.
func halved(x float64) float64 {
	x = min(max(x, -1000), 1000)
	n := int64(x * decaySteps)
	y := (float64(n)/decaySteps - x) * math.Ln2
	series := 1 + y*(1+y*(1./2+y*(1./6+y*(1./24+y*(1./120)))))
	return math.Float64frombits(halves[n&(decaySteps-1)]-uint64(n>>decayBits)<<52) * series
}

// over returns the factor of the decay after t requests. Stored sums use this one.
func (d decay) over(t int64) float64 { return halved(float64(max(t, 0)) * d.perSeq) }

// near returns over within 0.3 %. Only looks use it, because in sums its error would add up.
func (d decay) near(t float64) float64 {
	x := uint64(min(t*d.steps, 500*decaySteps))
	return math.Float64frombits(halves[x%decaySteps] - x/decaySteps<<52)
}

// lb returns the bucket of x >= 0: the exponent of (1+x)² is floor(2·log2(1+x)).
func lb(x float64) uint8 {
	x++
	return uint8(min(buckets-1, math.Float64bits(x*x)>>52-1023))
}
