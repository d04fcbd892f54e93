package whatif

import (
	"reprise/proxy/cache"
	"reprise/proxy/observe"
	"reprise/store"
	"reprise/topics/reuse/evidence"
)

// Ended keeps a request that the policy has seen: one that a stored answer served, or whose answer was given to the store.
func (w *Window) Ended(o *observe.Outcome) {
	switch {
	case o.Answered && o.Entry != nil && o.Request.Passed.Hit:
		w.Pass(&o.Request.Passed)
	case !o.Answered && o.Found != nil && o.Found.Passed.Who != 0:
		w.Pass(&o.Found.Passed)
	}
}

// Forget does nothing: rows are numbers that were drawn from hashes.
func (w *Window) Forget(store.Filter) {}

// Ended keeps the answer that decided on a request, where some settings would serve it, and what came of comparing it.
func (p *Pairs) Ended(o *observe.Outcome) {
	switch {
	case o.Compared != evidence.Unknown:
		p.Judge(&cache.Judged{Seq: o.Request.At.Seq, Outcome: o.Compared})
	case o.Answered && o.Found != nil && o.Found.Judged != nil:
		p.Judge(o.Found.Judged)
	}
}

// Forget does nothing: pairs have similarities and the numbers of classes, and no text.
func (p *Pairs) Forget(store.Filter) {}
