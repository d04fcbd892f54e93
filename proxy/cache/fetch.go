package cache

import (
	"context"
	"time"

	"reprise/policy"
	"reprise/store"
)

// answers are those of the entries of a store.
type answers struct {
	remote Remote // nil: they are in the store
	state  *state
}

// of is e with its answer, or an entry that is not the Same where another process has replaced the answer of e's key meanwhile. It is
// nil where there is no answer that may be served: another entry may have one if missing, which says that the shared store has none of
// e, so that e was removed.
func (a *answers) of(ctx context.Context, e *store.Entry, next func() []*store.Entry) (whole *store.Entry, missing bool, err error) {
	if a.remote == nil || len(e.Answer) > 0 {
		return e, false, nil
	}
	got, failed := a.remote.Fetch(ctx, e.Key, e, next)
	switch {
	case failed != nil:
		return nil, false, nil
	case got == nil || got.Key != e.Key:
		return nil, true, a.state.remove(policy.Expired, e)
	case got.AnswerOf(e):
		return e.WithAnswer(got), false, nil
	}
	return got, false, nil
}

// next returns the entries that r.Next leads to, once.
func (a *answers) next(r *Request) func() []*store.Entry {
	if len(r.Next) == 0 {
		return nil
	}
	return func() (all []*store.Entry) {
		for _, k := range r.Next {
			if e, alias, ok := a.state.store.Lookup(k); ok && !alias {
				all = append(all, e)
			}
		}
		r.Next = nil
		return all
	}
}

// unknown is a hit by an entry that another process has stored under the key of r, and that has not been read from the log yet; nil where
// there is none. The shared store is asked once for each request.
func (a *answers) unknown(ctx context.Context, r *Request, clock func() time.Time, purges uint64) *Hit {
	if a.remote == nil || r.Asked || r.NoCache {
		return nil
	}
	r.Asked = true
	e, err := a.remote.Fetch(ctx, r.Key, nil, nil)
	now := clock()
	if err != nil || e == nil || e.Key != r.Key || !r.takes(e, now) {
		return nil
	}
	return &Hit{Entry: e, At: now, purges: purges}
}

// lookup is Lookup without its guard. What is stale is returned without its answer, which may never be asked for.
func (c *Cache) lookup(ctx context.Context, r *Request) (hit, stale *Hit, err error) {
	purges := c.state.purges.Load()
	r.Unfetched = false
	e, alias, ok := c.state.store.Lookup(r.Key)
	var why basis
	if r.Probe != nil {
		return nil, nil, nil
	}
	if alias {
		var explore float64
		if why, explore, ok = c.opt.aliasAllowed(r, e, c.verdicts); ok && !r.Shadow && len(r.Turns) == 0 && c.learner.drawFor(r) < explore {
			r.Probe = &Hit{Entry: e, Alias: true, At: c.opt.Now(), purges: purges}
			return nil, nil, nil
		}
	}
	if !ok {
		return c.answers.unknown(ctx, r, c.opt.Now, purges), nil, nil
	}
	if c.state.expired(e.ID, r.At) {
		return nil, nil, c.state.remove(policy.Expired, e)
	}
	now := c.opt.Now()
	switch {
	case !r.usable(e, now):
		return nil, nil, nil
	case !r.fresh(e, now):
		return nil, &Hit{Entry: e, Alias: alias, At: now, purges: purges}, nil
	case r.tooOld(e, now):
		return nil, nil, nil
	}
	whole, missing, err := c.answers.of(ctx, e, c.answers.next(r))
	r.Unfetched = whole == nil && !missing
	if whole == nil || !whole.Same(e) && (alias || !r.takes(whole, now)) { // only the key says what an answer of another process is for
		return nil, nil, err
	}
	switch {
	case alias:
		found := c.learner.caseOf(r, why, e)
		if c.verdicts.recent.quotes(r.Key, e, found, func() bool { return c.quotes(r, whole) }) { // its answer was replaced since the alias was made
			return nil, nil, nil
		}
		c.verdicts.recent.served(r.Key, e, found)
	case c.learner.probes(r, whole):
		r.Probe = &Hit{Entry: whole, At: now, purges: purges}
		return nil, nil, nil
	}
	return &Hit{Entry: whole, Alias: alias, At: now, purges: purges}, nil, err
}
