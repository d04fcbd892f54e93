// Package study plays policies against each other over many traces and seeds.
package study

import (
	"math"

	"reprise/policy/sim"
	"reprise/policy/sim/workload"
)

// Case is one workload at one capacity, made anew from each seed.
type Case struct {
	Name     string
	Trace    func(seed uint64) (sim.Trace, error)
	Capacity sim.Capacity
	Model    sim.Model // nil: hits by identity
}

// Row is what the policies did in one case.
type Row struct {
	Case     string
	Capacity string
	// Values has the figure of each policy for each seed, in the order of the seeds.
	Values map[string][]float64
}

// Regimes are cases of generated workloads, each in all readings that the study has of it.
func Regimes(all []workload.Regime) (cases []Case) {
	for _, r := range all {
		for i, spec := range r.Specs() {
			name := r.Name
			if len(r.Weights) > 1 {
				name += " " + r.Weights[i]
			}
			cases = append(cases, Case{
				Name:     name,
				Trace:    func(seed uint64) (sim.Trace, error) { return workload.Generate(spec, seed) },
				Capacity: sim.Capacity{Entries: r.Capacity},
			})
		}
	}
	return cases
}

// HitRatio is the figure of most studies.
func HitRatio(r sim.Result) float64 { return r.HitRatio }

// TokensSaved is the figure under a capacity in bytes: the share of all tokens that the hits saved.
func TokensSaved(r sim.Result) float64 { return r.TokenHitRatio }

// Mean is the mean of values and the half width of its 95 % confidence interval.
func Mean(values []float64) (mean, half float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	if n < 2 {
		return mean, 0
	}
	var square float64
	for _, v := range values {
		square += (v - mean) * (v - mean)
	}
	return mean, student(len(values)-1) * math.Sqrt(square/(n-1)/n)
}

// student is the two-sided 95 % quantile of Student's t with so many degrees of freedom.
func student(degrees int) float64 {
	quantiles := []float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
		2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086}
	if degrees > len(quantiles) {
		return 1.96 + 2.4/float64(degrees)
	}
	return quantiles[degrees-1]
}

// Best is the one of names with the highest mean, and that mean.
func (r *Row) Best(names []string) (best string, mean float64) {
	mean = math.Inf(-1)
	for _, name := range names {
		if m, _ := Mean(r.Values[name]); len(r.Values[name]) > 0 && m > mean {
			best, mean = name, m
		}
	}
	return best, mean
}
