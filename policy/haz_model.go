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

// hazModel is a logistic regression: the logit of v is linear in one indicator per bucket. It climbs the likelihood by
// AdaGrad: a step is lr·g/sqrt(1+sum of g²), g = wanted - foreseen, and 0.3 of it for the bias. The start is LFU's and
// RAC's order, with little of LRU's, so that the first victims make sense.
type hazModel struct {
	rate   float32 // of learning
	bias   float32
	biasG  float32
	weight [hazFeatures][hazRow]float32
	square [hazFeatures][hazRow]float32 // sum of g²
}

func newHAZModel(lr float64) hazModel {
	m := hazModel{rate: float32(lr), bias: -1}
	for k := range hazBuckets {
		m.weight[hazAge][k] = -0.02 * float32(k)
		m.weight[hazCRF][k] = 0.15 * float32(k)
		m.weight[hazSlow][k] = 0.10 * float32(k)
	}
	return m
}

// logit is that of v at p.
func (m *hazModel) logit(p *hazPoint) float32 {
	w := &m.weight
	a := w[0][p[0]%hazRow] + w[1][p[1]%hazRow] + w[2][p[2]%hazRow] + w[3][p[3]%hazRow] + w[4][p[4]%hazRow]
	b := w[5][p[5]%hazRow] + w[6][p[6]%hazRow] + w[7][p[7]%hazRow] + w[8][p[8]%hazRow] + w[9][p[9]%hazRow]
	return m.bias + a + b + w[10][p[10]%hazRow]
}

// foreseen is v at p.
func (m *hazModel) foreseen(p *hazPoint) float32 {
	return float32(1 / (1 + math.Exp(-float64(m.logit(p)))))
}

// correct climbs towards what v at p should have been.
func (m *hazModel) correct(p *hazPoint, wanted float32) {
	g := wanted - m.foreseen(p)
	gg, rg := g*g, m.rate*g
	for i := range p {
		k := p[i] % hazRow
		s := m.square[i][k] + gg
		m.square[i][k] = s
		m.weight[i][k] += rg / float32(math.Sqrt(float64(1+s)))
	}
	m.biasG += gg
	m.bias += 0.3 * rg / float32(math.Sqrt(float64(1+m.biasG)))
}

// hazClock knows what is long and what is short at a capacity.
type hazClock struct {
	now                   int64
	scale                 float64 // of ages
	pause                 int64   // the longest that a conversation makes
	wait, crf, slow, fast hazDecay
}

func newHAZClock(capacity int) hazClock {
	c := float64(max(capacity, 1))
	return hazClock{
		scale: 32 / c, pause: int64(max(1, c/10)),
		wait: newHAZDecay(c), crf: newHAZDecay(4 * c), slow: newHAZDecay(2 * c), fast: newHAZDecay(c / 10),
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
