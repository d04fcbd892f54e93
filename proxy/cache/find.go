package cache

import (
	"context"
	"errors"

	"reprise/policy"
	"reprise/store"
	"reprise/topics"
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
// nil: after a purge that removed it while the upstream was asked, too.
func (c *Cache) Stale(ctx context.Context, r *Request, h *Hit) (hit *Hit) {
	now := c.opt.Now()
	if h == nil || !h.Entry.Usable(now) || r.tooOld(h.Entry, now) || !c.Serves(h) {
		return nil
	}
	_ = guard("store", func() error { // a fault has been counted, or leaves the upstream's error as it is
		whole, _, err := c.answers.of(ctx, h.Entry)
		if whole != nil && whole.Same(h.Entry) {
			hit = &Hit{Entry: whole, At: now, purges: h.purges}
		}
		return err
	})
	return hit
}

// aliasAllowed reports whether e, which was once found by meaning, may serve r: not where only the very words count, not under a
// threshold higher than the one it was found with, and not if its answer was replaced by one for exact repeats only.
func (o *Options) aliasAllowed(r *Request, e *store.Entry) bool {
	return o.Meaning && !o.Shadow && !r.ExactOnly && r.Threshold <= o.Thresholds.Hit && r.comparableTo(e)
}

// Find looks for an answer to r by meaning: embed the prompt, route it to a topic, verify the nearest members, ask the judge. On a
// hit, r's key becomes an alias of the entry. On a miss the policy learns of the topic's request. There is a Finding also with an
// error.
func (c *Cache) Find(ctx context.Context, r *Request) (f *Finding, err error) {
	c.trySettle()
	f = &Finding{Parent: c.turns.parent(r)}
	if c.opt.comparable(r) {
		err = c.search(ctx, r, f)
	}
	if topic := c.opt.topicOf(r, f); f.Hit == nil && topic != 0 {
		err = errors.Join(err, guard("policy", func() error { c.arrive(topic, r.At); return nil }))
	}
	return f, err
}

// topicOf is the topic that a miss belongs to, 0 for a new one.
func (o *Options) topicOf(r *Request, f *Finding) policy.TopicID {
	if o.GivenTopics {
		return r.Topic
	}
	return policy.TopicID(f.Route.Topic)
}

func (c *Cache) search(ctx context.Context, r *Request, f *Finding) error {
	if err := guard("embed", func() error { return c.embed(ctx, r, f) }); err != nil {
		f.Degraded = "embed"
		return err
	}
	if f.Vector == nil {
		return nil
	}
	err := guard("topics", func() error {
		start := c.opt.Now()
		f.Chain = c.turns.chain(r)
		defer func() { f.SearchTook = max(c.opt.Now().Sub(start), 1) }()
		for {
			f.Route = c.route(topics.Query{Scope: topics.ScopeID(r.Scope), Chain: f.Chain, Vector: f.Vector, Hit: r.Threshold})
			blocked, err := c.verify(ctx, r, f)
			if err != nil || len(blocked) == 0 {
				return err
			}
			if err := c.remove(policy.Expired, blocked...); err != nil {
				return err
			}
		}
	})
	if err != nil {
		f.Hit, f.Degraded = nil, "topics"
	}
	return err
}

// verify takes the nearest member that is resident, fresh and passed by the judge. Expired entries that fill all places of the search
// are returned: they stay for the next answer to their key, but not where they hide a fresh entry.
func (c *Cache) verify(ctx context.Context, r *Request, f *Finding) (blocked []*store.Entry, err error) {
	now, purges := c.opt.Now(), c.purges.Load()
	for _, m := range f.Route.Matches {
		e, ok := c.store.Get(policy.ID(m.ID))
		if !ok || !r.comparableTo(e) { // it may have been evicted or replaced since the search
			continue
		}
		switch {
		case !e.Usable(now):
			blocked = append(blocked, e)
			continue
		case !r.takes(e, now):
			continue
		case c.expired(e.ID, r.At):
			if err := c.remove(policy.Expired, e); err != nil {
				return nil, err
			}
			continue
		}
		hit := &Hit{Entry: e, Topic: m.Topic, At: now, purges: purges}
		switch c.decide(r, f, hit, m.Score) {
		case passOver:
			continue
		case goUpstream:
			return nil, nil
		}
		whole, missing, err := c.answers.of(ctx, e)
		switch {
		case err != nil || whole == nil && !missing:
			return nil, err
		case whole == nil || !whole.Same(e): // no answer, or one of which it is not known whether it may be found by meaning
			continue
		}
		hit.Entry = whole
		return nil, c.found(r, f, hit)
	}
	if len(blocked) < topics.MaxMatches {
		return nil, nil
	}
	return blocked, nil
}

// found makes hit that of f, and the key of r an alias of its entry.
func (s *state) found(r *Request, f *Finding, hit *Hit) error {
	f.Hit, f.Explore = hit, nil
	if r.Private {
		return nil
	}
	return s.alias(r.Key, hit.Entry.ID, 0, hit.At)
}

// embed gives f the vector of r.
func (c *Cache) embed(ctx context.Context, r *Request, f *Finding) (err error) {
	if f.Vector = r.Vector; f.Vector != nil {
		return nil
	}
	start := c.opt.Now()
	f.Vector, err = c.embedder.vector(ctx, r.Prompt)
	if f.Vector != nil {
		f.EmbedTook = max(c.opt.Now().Sub(start), 1)
	}
	return err
}
