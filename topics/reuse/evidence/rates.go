package evidence

import (
	"math"

	"reprise/topics/reuse/edits"
)

const (
	// weight is that of a level's prior, in observations. With it, and a δ of 0.01, one error stops a class in its scope until some 90
	// comparisons there came out the same, and does not stop a class of which more than that are known.
	weight = 50
	// Equal forms are equal by rules, and a comparison of two answers to one question may fail: the second error stops them.
	formWeight = 300
	formError  = 0.0005
	// gateError is the expected error of what passes the vetoes at an embedder's own gate, and slope how much more is expected for each
	// 1.0 of similarity below it, where only an operator's setting leads.
	gateError = 0.006
	slope     = 0.6
	// window is how many bands above and below a band count like it.
	window = 2
	// share is what a tenant counts for among all tenants at most, in observations, of a class; as much is taken off the sum of all
	// tenants, so that one alone moves nothing.
	share = 2
	unit  = 1024 // of the sums, so that adding them commutes exactly
)

// Rates are estimates. All methods are safe for concurrent use. A nil *Rates has the priors alone.
type Rates struct {
	embedder Embedder
	space    uint64
	served   cells // of what would be served, for Estimates
	global   sums
	tenants  table
	scopes   table
	topics   table
}

// Space is the id of the space whose similarities are counted, for Case.Space.
func (r *Rates) Space() uint64 {
	if r == nil {
		return 0
	}
	return r.space
}

// P is the estimated probability that the answer is right in a case, and n how many observations of this tenant it rests on: of several
// edits, those of the one seen least. Of a similarity of another space, and of an edit that is not listed, it is 0.
func (r *Rates) P(c *Case) (p float64, n int) {
	if r == nil {
		r = &Rates{space: c.Space}
	}
	var buffer [edits.Most + 1]key
	list, ok := keys(buffer[:0], c, r.space)
	if !ok {
		return 0, 0
	}
	tenant, scope := r.tenants.find(c.Tenant), r.scopes.find(scopeID(c))
	p, n = 1, math.MaxInt
	for _, k := range list {
		p *= 1 - r.wrong(k, tenant, scope)
		n = min(n, max(tenant.near(k), scope.near(k)))
	}
	if c.Topic != 0 {
		if t := r.topics.find(topicID(c)).at(kind(list[0])); t.wrong > 0 {
			p = min(p, 1-level{formError, weight}.after(t.counts()))
		}
	}
	return p, n
}

// counts are observations; of what all tenants saw they have fractions.
type counts struct{ wrong, n float64 }

// level is a prior of the share of wrong answers, and its weight in observations.
type level struct{ wrong, weight float64 }

// after is the mean of the Beta posterior.
func (l level) after(c counts) float64 { return (l.wrong*l.weight + c.wrong) / (l.weight + c.n) }

// wrong is the estimated share of wrong answers of a key, level by level.
func (r *Rates) wrong(k key, tenant, scope cells) float64 {
	prior, later := r.prior(k)
	if k < first {
		e := prior.after(r.global.at(k))
		e = level{e, later}.after(tenant.at(k).counts())
		return level{e, later}.after(scope.at(k).counts())
	}
	var at [3][bands]counts
	for i := range at[0] {
		at[0][i] = r.global.at(first + key(i))
	}
	tenant.bands(&at[1])
	scope.bands(&at[2])
	e := prior.isotonic(k, &at[0])
	e = level{e, later}.isotonic(k, &at[1])
	return level{e, later}.isotonic(k, &at[2])
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

// prior is what is expected before anything was seen, and the weight of an estimate as the prior of the next level.
func (r *Rates) prior(k key) (prior level, later float64) {
	switch {
	case k == form:
		return level{formError, formWeight}, formWeight
	case k < all:
		row := edits.Table[k]
		return level{1 - row.Prior, max(row.Weight, weight)}, weight
	}
	return level{min(gateError+slope*max(r.embedder.Gate-k.lowest()-1e-9, 0), 1), weight}, weight
}

// sums are of the tenants' shares, in 1/unit.
type sums [ends]struct{ wrong, n int64 }

// at are the counts of all tenants, without what a single one can have added.
func (s *sums) at(k key) counts {
	return counts{float64(max(s[k].wrong-share*unit, 0)) / unit, float64(max(s[k].n-share*unit, 0)) / unit}
}

// move adds the shares of a tenant, or with sign -1 takes them off.
func (s *sums) move(of cells, sign int64) {
	for _, c := range of {
		wrong, n := int64(c.wrong)*unit, int64(c.n())*unit
		if n > share*unit {
			wrong, n = wrong*share/int64(c.n()), share*unit
		}
		s[c.key].wrong += sign * wrong
		s[c.key].n += sign * n
	}
}
