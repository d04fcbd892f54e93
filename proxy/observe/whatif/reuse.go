package whatif

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"reprise/proxy/cache"
	"reprise/topics/reuse"
	"reprise/topics/reuse/evidence"
)

// leastPairs is how many pairs there must be before other settings are compared with those in force.
const leastPairs = 30

// Judging is what decides in a proxy whether an answer serves another prompt.
type Judging struct {
	Words     bool // every difference must be a listed edit
	MaxError  float64
	Threshold float64
	Lowest    float64 // the hit threshold must be above it
	Rates     func() *evidence.Rates
}

// Reuse is what other settings would have made of the last requests that were compared by meaning.
type Reuse struct {
	Requests int64    `json:"requests"` // in which the pairs were found
	Pairs    int      `json:"pairs"`
	Compared int      `json:"compared"` // pairs whose stored answer was compared with the upstream's
	Rows     []option `json:"thresholds"`
	Rates    []option `json:"error_rates"`
	Notes    []string `json:"notes"`
}

// option is a value of a setting.
type option struct {
	Value float64 `json:"value"`
	Now   bool    `json:"present"`
	Set   string  `json:"set"`
	// Served is how many of 1,000 requests would have been hits by meaning, and Change how many more than now.
	Served float64 `json:"hits_per_1000"`
	Change float64 `json:"change_per_1000"`
	// Expected is the share of wrong answers among them by the estimates of now, and Bound the upper end of the 95 % interval of what comparisons
	// have shown: 1 where nothing was compared.
	Expected float64 `json:"expected_error"`
	Bound    float64 `json:"error_bound"`
	// What the figures rest on: pairs that would be served, those of them that were compared, and how many of these came out different.
	Pairs     int `json:"pairs"`
	Compared  int `json:"compared"`
	Different int `json:"different"`
}

// pair is a judged answer with what is estimated of it now.
type pair struct {
	*cache.Judged
	rates *evidence.Rates
	p     float64 // that it is right
}

// serves reports whether a pair would be served by some settings.
func (j *Judging) serves(x *pair, threshold, maxError float64) bool {
	switch {
	case x.Same:
		return true
	case !x.Form && x.Case.Similarity < threshold-1e-9:
		return false
	}
	if maxError == 0 {
		maxError = -1 // none, and not the judge's
	}
	serves, _ := (&reuse.Judge{Words: j.Words, Rates: x.rates}).Serves(&x.Case, maxError, x.Trust)
	return serves
}

// reuseOf compares settings over pairs.
func (j *Judging) reuseOf(all []cache.Judged, requests int64) *Reuse {
	r := &Reuse{Requests: requests, Pairs: len(all), Rows: []option{}, Rates: []option{}}
	rates, pairs := j.Rates(), make([]pair, len(all))
	for i := range all {
		pairs[i] = pair{&all[i], rates, 1}
		if !all[i].Same {
			pairs[i].p = rates.P(&all[i].Case)
		}
		if all[i].Outcome != evidence.Unknown {
			r.Compared++
		}
	}
	r.Notes = j.notes(r)
	if len(all) < leastPairs {
		return r
	}
	for _, v := range thresholdsAround(j.Threshold, j.Lowest) {
		o := j.option(pairs, requests, v, j.MaxError)
		o.Value, o.Now, o.Set = v, v == j.Threshold, "REPRISE_HIT_THRESHOLD="+number64(v)
		r.Rows = append(r.Rows, o)
	}
	for _, v := range ratesAround(j.MaxError) {
		o := j.option(pairs, requests, j.Threshold, v)
		o.Value, o.Now, o.Set = v, v == j.MaxError, "REPRISE_MAX_ERROR_RATE="+number64(v)
		r.Rates = append(r.Rates, o)
	}
	return r
}

func number64(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// thresholdsAround are the one in force and some below and above it.
func thresholdsAround(now, lowest float64) (all []float64) {
	for _, step := range []float64{-0.10, -0.05, -0.03, -0.02, -0.01, 0, 0.01, 0.02, 0.03, 0.05} {
		if v := math.Round((now+step)*1e4) / 1e4; step == 0 {
			all = append(all, now)
		} else if v > lowest && v <= 1 {
			all = append(all, v)
		}
	}
	return all
}

// ratesAround are the one in force and those that the documentation names.
func ratesAround(now float64) []float64 {
	all := []float64{0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1}
	if !slices.Contains(all, now) {
		all = append(all, now)
		slices.Sort(all)
	}
	return all
}

// group is pairs that would be served.
type group struct {
	pairs, compared, different int
	requests                   float64 // that they represent
	risk                       float64 // expected wrong answers among them
}

func (g *group) add(x *pair) {
	g.pairs++
	g.requests += float64(x.Weight)
	g.risk += float64(x.Weight) * (1 - x.p)
	if x.Outcome != evidence.Unknown {
		g.compared++
	}
	if x.Outcome == evidence.Different {
		g.different++
	}
}

// bound is the upper end of the interval of the share of wrong answers.
func (g *group) bound() float64 {
	_, high := evidence.Wilson(g.different, g.compared)
	return high
}

// option counts what a threshold and an error rate would serve. What is served now and what would be gained are two groups, of which very
// different shares are compared; each counts for the bound by its requests.
func (j *Judging) option(pairs []pair, requests int64, threshold, maxError float64) (o option) {
	var both, gained group
	now := 0.0
	for i := range pairs {
		x := &pairs[i]
		served := j.serves(x, j.Threshold, j.MaxError)
		if served {
			now += float64(x.Weight)
		}
		switch {
		case !j.serves(x, threshold, maxError):
		case served:
			both.add(x)
		default:
			gained.add(x)
		}
	}
	o.Pairs, o.Compared, o.Different = both.pairs+gained.pairs, both.compared+gained.compared, both.different+gained.different
	hits := both.requests + gained.requests
	if hits > 0 {
		o.Expected = (both.risk + gained.risk) / hits
		o.Bound = (both.bound()*both.requests + gained.bound()*gained.requests) / hits
	}
	o.Served = 1000 * hits / float64(max(requests, 1))
	o.Change = 1000 * (hits - now) / float64(max(requests, 1))
	return o
}

// notes say in words what limits the figures.
func (j *Judging) notes(r *Reuse) (notes []string) {
	if r.Pairs < leastPairs {
		return []string{fmt.Sprintf("%d answers were judged so far, and %d are needed before settings are compared.", r.Pairs, leastPairs)}
	}
	notes = append(notes, fmt.Sprintf("Of the thresholds below the present one, one request in 16 was looked at, down to %.2f below it; nothing of that is served or compared, so the bound of "+
		"what they add is 1. The shadow mode with a lower threshold compares it.", cache.BelowGate))
	notes = append(notes, "A prompt that was once answered by meaning is found under its key from then on, and is not counted again.")
	if j.Words {
		notes = append(notes, "Behind the built-in embedder only listed edits are served, whatever the threshold.")
	}
	return notes
}
