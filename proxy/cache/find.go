package cache

import (
	"context"
	"errors"

	"reprise/policy"
	"reprise/store"
)

// Lookup finds the answer to r under its key. An answer that has expired and may still be served in place of an error is returned
// as stale. An expired entry stays where it is: the next answer takes its place. Where processes share the store, the answer is fetched
// from there, also under a key that is unknown here.
func (c *Cache) Lookup(ctx context.Context, r *Request) (hit, stale *Hit, err error) {
	if r.NoCache {
		return nil, nil, nil
	}
	err = guard("store", func() (err error) {
		hit, stale, err = c.lookup(ctx, r)
		return err
	})
	return hit, stale, err
}

// expired reports whether the policy says that id must not answer any more. A use that waits may be what keeps it.
func (s *state) expired(id policy.ID, at policy.Tick) bool {
	if !s.store.Expired(id, at) {
		return false
	}
	s.lock()
	defer s.mu.Unlock()
	return s.store.Expired(id, at)
}

// Stale returns h, which Lookup returned as stale, as a hit of this moment if it may still be served in place of an error; otherwise
// nil: after a purge that removed it while the upstream was asked, and where it has proved wrong for r meanwhile, too.
func (c *Cache) Stale(ctx context.Context, r *Request, h *Hit) (hit *Hit) {
	now := c.opt.Now()
	if h == nil || !r.usable(h.Entry, now) || r.tooOld(h.Entry, now) || !c.Serves(h) {
		return nil
	}
	var why basis
	if h.Alias {
		allowed := false
		if why, _, allowed = c.opt.aliasAllowed(r, h.Entry, c.verdicts); !allowed {
			return nil
		}
	}
	_ = guard("store", func() error { // a fault has been counted, or leaves the upstream's error as it is
		whole, _, err := c.answers.of(ctx, h.Entry, nil)
		if whole != nil && whole.Same(h.Entry) {
			hit = &Hit{Entry: whole, Alias: h.Alias, At: now, purges: h.purges}
		}
		return err
	})
	if hit != nil && hit.Alias {
		c.verdicts.recent.served(r.Key, h.Entry, c.learner.caseOf(r, why, h.Entry))
	}
	return hit
}

// Fallback returns f.Explore as a hit of this moment if it may be served because the upstream has failed; otherwise nil: where it has proved
// wrong for r meanwhile, too. The caller reports by FellBack that it serves it.
func (c *Cache) Fallback(ctx context.Context, r *Request, f *Finding) *Hit {
	if !f.Fallback || c.verdicts.refuses(r.Key, f.Explore.Entry) {
		return nil
	}
	hit := c.Stale(ctx, r, f.Explore)
	if hit == nil || c.quotes(r, hit.Entry) {
		return nil
	}
	hit.Topic = f.Explore.Topic
	return hit
}

// quotes reports whether the answer of e, an entry that has it, quotes words in which the prompt of r differs: it is not served to r then, whatever its
// scope has shown.
func (c *Cache) quotes(r *Request, e *store.Entry) bool {
	if c.opt.Quotes == nil || e.Prompt == r.Prompt {
		return false
	}
	stored, asked := c.Asked(e, r.Prompt)
	return c.opt.Quotes(e, stored, asked)
}

// FellBack notes that f.Explore answers r: a verdict on this answer is one on the pair.
func (c *Cache) FellBack(r *Request, f *Finding) {
	c.verdicts.recent.served(r.Key, f.Explore.Entry, f.Verdict.Case)
}

// aliasAllowed reports whether e, which was once found for r's key by meaning, may serve r, and why it was found: not where only the very
// words count, not if its answer was replaced by one for exact repeats only, and not where the alias does not hold. explore is as of holds.
func (o *Options) aliasAllowed(r *Request, e *store.Entry, a *Verdicts) (b basis, explore float64, ok bool) {
	if !o.Meaning || r.Shadow || r.ExactOnly || !r.comparableTo(e) || !r.alike(e) {
		return 0, 0, false
	}
	return a.holds(r, r.Key, e, o.gate(r))
}

// Find looks for an answer to r by meaning: by the normal form of its prompt, and where that finds none, embed the prompt, route it to a
// topic, verify the nearest members, ask the judge. On a hit, r's key may become an alias of the entry. On a miss the policy learns of the
// topic's request. There is a Finding also with an error.
func (c *Cache) Find(ctx context.Context, r *Request) (f *Finding, err error) {
	c.state.trySettle()
	f = &Finding{Parent: c.state.turns.parent(r)}
	if c.opt.comparable(r) {
		f.Compared = true
		f.ask(c.state, r, !r.NoStore)
		err = (&search{c: c, r: r, f: f, draw: c.learner.drawFor(r)}).all(ctx)
	}
	c.renews(r, f)
	if topic := c.opt.topicOf(r, f); f.Hit == nil && topic != 0 {
		err = errors.Join(err, guard("policy", func() error { c.state.arrive(topic, r.At); return nil }))
	}
	return f, err
}

// renews makes the answer that r had before, which has expired or is not wanted, one to be compared with the new one, where nothing else is compared
// and its scope wants to know by how much answers to an equal prompt differ.
func (c *Cache) renews(r *Request, f *Finding) {
	if !f.Compared || f.Hit != nil || f.Explore != nil || !c.learner.Rates().Curious() {
		return
	}
	if e, alias, ok := c.state.store.Lookup(r.Key); ok && !alias && len(e.Answer) > 0 && c.learner.wantsNoise(r, e) > 0 {
		f.Explore, f.Basis = &Hit{Entry: e, At: c.opt.Now(), purges: c.state.purges.Load()}, Repeated
		f.Verdict.Case = repeated(r, e)
	}
}

// topicOf is the topic that a miss belongs to, 0 for a new one.
func (o *Options) topicOf(r *Request, f *Finding) policy.TopicID {
	if o.GivenTopics {
		return r.Topic
	}
	return policy.TopicID(f.Route.Topic)
}

// embed gives f the vector of r.
func (c *Cache) embed(ctx context.Context, r *Request, f *Finding) (err error) {
	if f.Vector = r.Vector; f.Vector != nil {
		return nil
	}
	defer r.step(StepEmbed)()
	start := c.opt.Now()
	f.Vector, err = c.embedder.vector(ctx, f.asked.vectorText())
	if f.Vector != nil {
		f.EmbedTook = max(c.opt.Now().Sub(start), 1)
	}
	return err
}
