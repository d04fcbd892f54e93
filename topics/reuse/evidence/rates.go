package evidence

import (
	"math"

	"reprise/topics/reuse/edits"
)

const (
	// weight is that of a prior, in observations. With it, and a δ of 0.01, one error stops a class in its scope until some 90 comparisons there
	// came out the same, and does not stop a class of which more than that are known.
	weight = 50
	// firstError is the expected share of wrong answers of a kind, with weight, in observations: five that came out the same bring it to 0.009.
	firstError = 0.5
	// gateError is the expected error of what passes the vetoes at an embedder's own gate, and slope how much more is expected for each
	// 1.0 of similarity below it, where only an operator's setting leads.
	gateError = 0.006
	slope     = 0.6
	// window is how many bands above and below a band count like it.
	window = 2
)

// Rates are estimates. All methods are safe for concurrent use. A nil *Rates has the priors alone.
type Rates struct {
	embedder Embedder
	space    uint64
	served   cells // of what would be served, for Estimates
	scopes   table
	families table
	curious  int // scopes that want noise
}

// Space is the id of the space whose similarities are counted, for Case.Space.
func (r *Rates) Space() uint64 {
	if r == nil {
		return 0
	}
	return r.space
}

// formError is the expected share of wrong answers of equal forms in a scope that an operator trusts.
const formError = 0.0005

// P is the estimated probability that the answer is right in a case: the least of what the scope has shown of its kind, and of Class.
func (r *Rates) P(c *Case) float64 {
	p := r.Class(c)
	if r == nil || p == 0 {
		return p
	}
	one := r.scopes.find(scopeID(c))
	x := &one.shown[c.Kind()]
	return min(p, 1-(firstError+float64(x.wrong))/(weight+float64(x.wrong+x.same)))
}

// Class is the estimated probability that the answer is right by its class of edits or its band of similarities in a case. For several edits the
// means are multiplied: products of lower bounds would serve nothing, and products of means were about right where they were measured. Of a
// similarity of another space, and of an edit that is not listed, it is 0.
func (r *Rates) Class(c *Case) float64 {
	if r == nil {
		r = &Rates{space: c.Space}
	}
	var buffer [edits.Most + 1]key
	list, ok := keys(buffer[:0], c, r.space)
	switch {
	case !ok:
		return 0
	case c.Kind() == Form:
		return 1 - formError
	}
	scope := r.scopes.find(scopeID(c)).cells
	p := 1.0
	for _, k := range list {
		p *= 1 - r.wrong(k, scope)
	}
	return p
}

// counts are observations.
type counts struct{ wrong, n float64 }

// level is a prior of the share of wrong answers, and its weight in observations.
type level struct{ wrong, weight float64 }

// after is the mean of the Beta posterior.
func (l level) after(c counts) float64 { return (l.wrong*l.weight + c.wrong) / (l.weight + c.n) }

// wrong is the estimated share of wrong answers of a class or a band in a scope.
func (r *Rates) wrong(k key, scope cells) float64 {
	prior := r.prior(k)
	if k < first {
		return prior.after(scope.at(k).counts())
	}
	var at [bands]counts
	scope.bands(&at)
	return prior.isotonic(k, &at)
}

// isotonic is after, of a band, with what is known of the others: a higher similarity is wrong no more often than a lower one. It is the
// min-max form of isotonic regression over runs of bands that have at least the band's window: an error stops the bands near it and below
// it, and answers that were right at a low similarity count for the higher ones. The prior counts once for each run.
func (l level) isotonic(k key, at *[bands]counts) float64 {
	own := int(k - first)
	from, to := max(own-window, 0), min(own+window, bands-1)
	var middle counts
	for i := from; i <= to; i++ {
		middle = counts{middle.wrong + at[i].wrong, middle.n + at[i].n}
	}
	least := math.Inf(1)
	for low := to; low < bands; low++ {
		if low > to {
			if at[low].n == 0 {
				continue // the same run, in effect
			}
			middle = counts{middle.wrong + at[low].wrong, middle.n + at[low].n}
		}
		run := middle
		most := l.after(run)
		for high := from - 1; high >= 0; high-- {
			run = counts{run.wrong + at[high].wrong, run.n + at[high].n}
			most = max(most, l.after(run))
		}
		least = min(least, most)
	}
	return least
}

// prior is what is expected before anything was seen.
func (r *Rates) prior(k key) level {
	if k < all {
		row := edits.Table[k]
		return level{1 - row.Prior, max(row.Weight, weight)}
	}
	return level{min(gateError+slope*max(r.embedder.Gate-k.lowest()-1e-9, 0), 1), weight}
}
