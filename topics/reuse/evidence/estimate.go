package evidence

import (
	"fmt"
	"math"

	"reprise/topics/reuse/edits"
)

// Estimate is the share of wrong answers among those that were served by meaning, or would have been: of the comparisons of such answers
// with the upstream's, whatever the tenant.
type Estimate struct {
	Name            string  // "all", "form", the name of a class, or the lower end of a band of similarities: "similarity 0.95"
	N, Wrong        int     // comparisons that were decided, and those that came out Different
	Mean, Low, High float64 // Wrong/N with its 95 % interval (Wilson); 0, 0 and 1 without comparisons
}

// Estimates are those of all classes and bands that were seen. The first one is of all together.
func (r *Rates) Estimates() []Estimate {
	var list []Estimate
	var total tally
	if r != nil {
		total = r.served.at(all)
		for _, c := range r.served {
			if c.key != all {
				list = append(list, estimate(c.key.name(), c.tally))
			}
		}
	}
	return append([]Estimate{estimate("all", total)}, list...)
}

func estimate(name string, t tally) Estimate {
	low, high := Wilson(int(t.wrong), t.n())
	return Estimate{name, t.n(), int(t.wrong), float64(t.wrong) / float64(max(t.n(), 1)), low, high}
}

// Wilson is the 95 % interval of a share of which k of n were observed; 0 and 1 if n is 0.
func Wilson(k, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.96
	p, m := float64(k)/float64(n), float64(n)
	middle, half := p+z*z/(2*m), z*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	low, high = (middle-half)/(1+z*z/m), (middle+half)/(1+z*z/m)
	if k == 0 {
		low = 0 // middle and half are equal, and their roundings need not be
	}
	if k == n {
		high = 1
	}
	return low, high
}

// name is that of Estimate.
func (k key) name() string {
	switch {
	case k == form:
		return "form"
	case k == all:
		return "all"
	case k >= first:
		return fmt.Sprintf("similarity %.2f", k.lowest())
	case int(k) < len(edits.Table):
		return edits.Class(k).Name()
	}
	return fmt.Sprintf("class %d", k)
}
