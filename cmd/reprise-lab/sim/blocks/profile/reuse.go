package profile

import (
	"math"

	"reprise/proxy/upstream/hint"
)

// Reuse is when the blocks that the requests of a group used are used again by a prompt, of whatever group.
type Reuse struct {
	Name string `json:"name"`
	// Uses is how often blocks were used, and Reused how many of the uses were followed by another one in the trace.
	Uses   int64   `json:"uses"`
	Reused int64   `json:"reused"`
	Share  float64 `json:"reused_share"`
	// Mean, P50, P90 and P99 are seconds from a use to the next one, of those that were followed. The percentiles are off by 0.6 % at most.
	Mean float64 `json:"mean_seconds"`
	P50  float64 `json:"p50_seconds"`
	P90  float64 `json:"p90_seconds"`
	P99  float64 `json:"p99_seconds"`
	// Within is the probability that a use is followed by another one within X seconds. It is the estimate of Kaplan and Meier (JASA 53,
	// 1958): a use that was not followed before the trace ended counts only for the time until then.
	Within []Point `json:"within"`
	// Gaps is the share of the times until the next use, of the uses that were followed, that are below X seconds (figure 12).
	Gaps []Point `json:"gaps"`
	Fit  Fit     `json:"fit"`
}

// Fit is an exponential with a share that never returns: F(t) = P (1 - exp(-t / Mean)), fitted by package hint.
type Fit struct {
	P    float64 `json:"p"`
	Mean float64 `json:"mean_seconds"`
	// KS is the largest difference between F and Within (the statistic of Kolmogorov and Smirnov), and R2 the share of the variance of Within
	// over its points that F explains; both over times that are even on a logarithmic scale. R2 is below 0 where a constant is better.
	KS float64 `json:"ks"`
	R2 float64 `json:"r2"`
}

// At is F(t).
func (f *Fit) At(t float64) float64 { return f.P * -math.Expm1(-t/f.Mean) }

// tally counts uses by what followed.
type tally struct {
	gaps   hist
	ages   hist // uses that were not followed, by the time until the end of the trace
	waited float64
	most   float64 // longest gap
	sample hint.Sample
}

func (t *tally) again(gap float64, n int64) {
	t.gaps[classOf(gap)] += n
	t.waited += gap * float64(n)
	t.most = max(t.most, gap)
	t.sample.Again(gap, float64(n))
}

func (t *tally) silent(age float64) {
	t.ages[classOf(age)]++
	t.sample.Silent(age, 1)
}

func (t *tally) add(o *tally) {
	for k := range classes {
		t.gaps[k] += o.gaps[k]
		t.ages[k] += o.ages[k]
	}
	t.waited += o.waited
	t.most = max(t.most, o.most)
	t.sample.Add(&o.sample)
}

// reuse describes the uses. prior is the fit of a wider group.
func (t *tally) reuse(name string, prior hint.Fit) (Reuse, hint.Fit) {
	r := Reuse{Name: name, Reused: t.gaps.total()}
	r.Uses = r.Reused + t.ages.total()
	r.Share = ratio(r.Reused, r.Uses)
	if r.Reused > 0 {
		r.Mean = t.waited / float64(r.Reused)
	}
	r.P50, r.P90, r.P99 = min(t.gaps.quantile(0.5), t.most), min(t.gaps.quantile(0.9), t.most), min(t.gaps.quantile(0.99), t.most)
	r.Within = t.within()
	if r.Reused > 0 {
		r.Gaps = t.gaps.cdf()
	}
	f := t.sample.Fit(prior)
	r.Fit = Fit{P: f.P, Mean: 1 / f.Rate}
	r.Fit.measure(r.Within)
	return r, f
}

// within is the estimate of Kaplan and Meier. A use whose trace ended within a step counts for the whole of it.
func (t *tally) within() (curve []Point) {
	gaps, ages := t.gaps.steps(), t.ages.steps()
	done := t.gaps.total()
	left := float64(done + t.ages.total()) // uses that were not followed yet, and whose trace did not end
	still := 1.0
	for k := range steps {
		if done == 0 {
			break
		}
		if n := float64(gaps[k]); n > 0 {
			still *= 1 - n/left
			done -= gaps[k]
		}
		left -= float64(gaps[k] + ages[k])
		if still < 1 {
			curve = append(curve, Point{edge(k), 1 - still})
		}
	}
	return curve
}

// measure sets the goodness of the fit.
func (f *Fit) measure(within []Point) {
	mean := 0.0
	for _, p := range within {
		mean += p.Y / float64(len(within))
	}
	left, all := 0.0, 0.0
	for _, p := range within {
		d := p.Y - f.At(p.X)
		f.KS = max(f.KS, math.Abs(d))
		left += d * d
		all += (p.Y - mean) * (p.Y - mean)
	}
	if all > 0 {
		f.R2 = 1 - left/all
	}
}
