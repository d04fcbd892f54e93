package policy

import "math"

// The features of an entry, all that are times or decay relative to the capacity C. lb(x) = min(23, floor(2·log2(1+x))).
const (
	hazAge    = iota // lb(32·age/C), age since the last use
	hazFreq          // min(12, uses)
	hazCRF           // lb(4·uses, each halved every 4C requests)
	hazSlow          // lb(visits of the topic, halved every 2C)
	hazFast          // lb(4·visits of the topic, halved every C/10)
	hazIdle          // lb(32·(time since the topic's last visit)/C)
	hazVisits        // lb(visits of the topic since the last use)
	hazWidth         // lb(distinct entries of the topic)
	hazTurn          // min(3, position in the conversation)
	hazBefore        // distinct entries that it came after, see follow
	hazAfter         // distinct entries that came after it
	hazFeatures
)

const (
	hazBuckets = 24
	hazRow     = 32 // a power of two makes the look-up free of checks
)

type hazPoint [hazFeatures]uint8

// hazSights are a figure for each of the two horizons that HAZ looks ahead.
type hazSights [2]float32

const (
	far     = 0 // C
	near    = 1 // C/hazNear
	hazNear = 8
)

// hazModel is a logistic regression for each horizon: the logit of v is linear in one indicator per bucket. It climbs the
// likelihood by AdaGrad: a step is lr·g/sqrt(1+sum of g²), g = wanted - foreseen, and 0.3 of it for the bias. The start is
// LFU's and RAC's order, with little of LRU's, so that the first victims make sense.
type hazModel struct {
	rate   float32 // of learning
	bias   hazSights
	biasG  hazSights
	weight [hazFeatures][hazRow]hazSights
	square [hazFeatures][hazRow]hazSights // sum of g²
}

func newHAZModel(lr float64) hazModel {
	m := hazModel{rate: float32(lr), bias: hazSights{-1, -1 - logNear}}
	for k := range hazBuckets {
		for _, start := range []struct {
			feature int
			slope   float32
		}{{hazAge, -0.02}, {hazCRF, 0.15}, {hazSlow, 0.10}} {
			w := start.slope * float32(k)
			m.weight[start.feature][k] = hazSights{w, w}
		}
	}
	return m
}

const logNear = 3 * math.Ln2

// logits are those of v at p. A loop would be slower by half.
func (m *hazModel) logits(p *hazPoint) hazSights {
	w := &m.weight
	a, b, c, d := &w[0][p[0]%hazRow], &w[1][p[1]%hazRow], &w[2][p[2]%hazRow], &w[3][p[3]%hazRow]
	e, f, g, h := &w[4][p[4]%hazRow], &w[5][p[5]%hazRow], &w[6][p[6]%hazRow], &w[7][p[7]%hazRow]
	i, j, k := &w[8][p[8]%hazRow], &w[9][p[9]%hazRow], &w[10][p[10]%hazRow]
	return hazSights{
		m.bias[0] + (a[0] + b[0] + c[0] + d[0]) + (e[0] + f[0] + g[0] + h[0]) + (i[0] + j[0] + k[0]),
		m.bias[1] + (a[1] + b[1] + c[1] + d[1]) + (e[1] + f[1] + g[1] + h[1]) + (i[1] + j[1] + k[1]),
	}
}

// gain is the logarithm of what room brings for as long as it is given to an entry at p, the better of both horizons.
func (m *hazModel) gain(p *hazPoint) float32 {
	z := m.logits(p)
	return max(z[far], z[near]+logNear)
}

// foreseen is v at p.
func (m *hazModel) foreseen(p *hazPoint) hazSights {
	z := m.logits(p)
	for i := range z {
		z[i] = float32(1 / (1 + math.Exp(-float64(z[i]))))
	}
	return z
}

// correct climbs towards what v at p should have been.
func (m *hazModel) correct(p *hazPoint, wanted hazSights) {
	g := m.foreseen(p)
	for i := range g {
		g[i] = wanted[i] - g[i]
	}
	for i, k := range p {
		w, square := &m.weight[i][k%hazRow], &m.square[i][k%hazRow]
		for j := range g {
			square[j] += g[j] * g[j]
			w[j] += m.step(g[j], square[j])
		}
	}
	for j := range g {
		m.biasG[j] += g[j] * g[j]
		m.bias[j] += 0.3 * m.step(g[j], m.biasG[j])
	}
}

func (m *hazModel) step(g, square float32) float32 {
	return m.rate * g / float32(math.Sqrt(float64(1+square)))
}

// hazClock knows what is long and what is short at a capacity.
type hazClock struct {
	now             int64
	scale           float64 // of ages
	pause           int64   // the longest that a conversation makes
	waits           [2]hazDecay
	crf, slow, fast hazDecay
}

func newHAZClock(capacity int) hazClock {
	c := float64(max(capacity, 1))
	return hazClock{
		scale: 32 / c, pause: int64(max(1, c/10)),
		waits: [2]hazDecay{far: newHAZDecay(c), near: newHAZDecay(c / hazNear)},
		crf:   newHAZDecay(4 * c), slow: newHAZDecay(2 * c), fast: newHAZDecay(c / 10),
	}
}

// hazDecay halves every halfLife requests.
type hazDecay struct{ perSeq, steps float64 }

func newHAZDecay(halfLife float64) hazDecay { return hazDecay{1 / halfLife, hazSteps / halfLife} }

const hazSteps = 256

var hazHalves = func() (t [hazSteps]uint64) {
	for i := range t {
		t[i] = math.Float64bits(math.Exp2(-float64(i) / hazSteps))
	}
	return t
}()

// over is the factor after a time. Sums are kept with this one.
func (d hazDecay) over(t int64) float64 { return math.Exp2(-float64(max(t, 0)) * d.perSeq) }

// near is over within 0.3 %, for a look only: its error must not add up.
func (d hazDecay) near(t float64) float64 {
	x := uint64(min(t*d.steps, 500*hazSteps))
	return math.Float64frombits(hazHalves[x%hazSteps] - x/hazSteps<<52)
}

// lb is the bucket of x >= 0: the exponent of (1+x)² is floor(2·log2(1+x)).
func lb(x float64) uint8 {
	x++
	return uint8(min(hazBuckets-1, math.Float64bits(x*x)>>52-1023))
}
