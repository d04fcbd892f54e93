package kvstudy

import (
	"fmt"
	"math"

	"reprise/cmd/reprise-lab/internal/study"
)

// ratios are hit ratios of LRU at which capacities are compared. The first ones are those of the paper's Figure 4.
var ratios = []float64{.2, .25, .3, .35, .4, .5, .6, .7, .8}

// paperRatios is how many of them the paper has.
const paperRatios = 5

// need is the capacity, in shares of the live tokens, at which a policy has a hit ratio with a seed, between the capacities that were played;
// NaN outside of these.
func (p *played) need(policy string, seed int, ratio float64) float64 {
	for i := 1; i < len(p.sweep.at); i++ {
		a, b := p.values(policy, i-1, hits)[seed], p.values(policy, i, hits)[seed]
		if a <= ratio && ratio < b {
			x, y := p.sweep.at[i-1].share, p.sweep.at[i].share
			return x + (y-x)*(ratio-a)/(b-a)
		}
	}
	return math.NaN()
}

// savings are by how much less cache than LRU a policy has LRU's hit ratio with, for each seed that has it in its range.
func (t *talks) savings(p *played, policy string, ratio float64) (all []float64) {
	for seed := range t.full.seeds {
		if s := p.need(policy, seed, ratio)/t.full.need("lru", seed, ratio) - 1; !math.IsNaN(s) {
			all = append(all, s)
		}
	}
	return all
}

// saving is the mean of savings over the paper's hit ratios, for each seed.
func (t *talks) saving(p *played, policy string) (all []float64) {
	for seed := range t.full.seeds {
		sum, n := 0.0, 0.0
		for _, ratio := range ratios[:paperRatios] {
			if s := p.need(policy, seed, ratio)/t.full.need("lru", seed, ratio) - 1; !math.IsNaN(s) {
				sum, n = sum+s, n+1
			}
		}
		if n > 0 {
			all = append(all, sum/n)
		}
	}
	return all
}

// changeOf formats relative changes as %, with their interval.
func changeOf(all []float64) string {
	if len(all) == 0 {
		return "–"
	}
	mean, half := study.Mean(all)
	if half == 0 {
		return fmt.Sprintf("%+.1f %%", 100*mean)
	}
	return fmt.Sprintf("%+.1f ± %.1f %%", 100*mean, 100*half)
}

// at is a figure of a policy at any capacity, between those that were played, with a seed.
func (p *played) between(policy string, seed int, share float64) float64 {
	for i := 1; i < len(p.sweep.at); i++ {
		if x, y := p.sweep.at[i-1].share, p.sweep.at[i].share; share <= y || i == len(p.sweep.at)-1 {
			a, b := p.values(policy, i-1, hits)[seed], p.values(policy, i, hits)[seed]
			return a + (b-a)*(share-x)/(y-x)
		}
	}
	return math.NaN()
}
