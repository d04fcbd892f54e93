package cache

import (
	"context"
	"slices"

	"reprise/policy"
	"reprise/policy/reuse"
	"reprise/store"
	"reprise/topics"
)

// Explanation is what the cache would do with a request, and why.
type Explanation struct {
	Hit        *Hit       // what would be served now; nil: a miss
	Thresholds Thresholds // the gates in force for this request
	Route      topics.Route
	Candidates []Candidate // entries over the hit gate, or else the nearest one; best first
	Degraded   string      // the step that failed, "" if none did
}

// Thresholds are cosine gates.
type Thresholds struct{ Hit, Route, Edge float64 }

// Candidate is an entry that a request was compared with.
type Candidate struct {
	Entry      *store.Entry
	Similarity float64
	Verdict    reuse.Verdict
	OverGate   bool
	Fresh      bool
}

// Explain returns what Lookup and Find would do with r, and serves nothing. Similarities help an attacker: keep them from clients.
func (c *Cache) Explain(ctx context.Context, r *Request) (*Explanation, error) {
	th := c.opt.Thresholds
	x := &Explanation{Thresholds: Thresholds{max(th.Hit, r.Threshold), th.Route, th.Edge}}
	if e, alias, ok := c.store.Lookup(r.Key); ok && (!alias || c.opt.aliasAllowed(r, e)) && r.takes(e, c.opt.Now()) {
		x.Hit = &Hit{Entry: e, Alias: alias}
	}
	if c.opt.Meaning && r.Prompt != "" {
		return x, c.explainMeaning(ctx, r, x)
	}
	return x, nil
}

func (c *Cache) explainMeaning(ctx context.Context, r *Request, x *Explanation) error {
	f := &Finding{}
	err := guard("explain", func() error {
		if err := c.embed(ctx, r, f); err != nil || f.Vector == nil {
			return err
		}
		x.Route = c.route(topics.Query{Scope: topics.ScopeID(r.Scope), Chain: c.turns.chain(r), Vector: f.Vector, Hit: r.Threshold, Nearest: true})
		return nil
	})
	if err != nil {
		x.Degraded = "embed"
		return err
	}
	near := x.Route.Matches
	if len(near) == 0 && x.Route.Nearest.ID != 0 {
		near = append(near, x.Route.Nearest)
	}
	for _, m := range near {
		x.compare(c, r, f, m, slices.Contains(x.Route.Matches, m))
	}
	return nil
}

// compare adds a candidate.
func (x *Explanation) compare(c *Cache, r *Request, f *Finding, m topics.Match, over bool) {
	e, ok := c.store.Get(policy.ID(m.ID))
	if !ok {
		return
	}
	now := c.opt.Now()
	k := Candidate{Entry: e, Similarity: m.Score, Verdict: c.judge(r, f, e, m.Score, neverExplore), OverGate: over, Fresh: e.Fresh(now)}
	x.Candidates = append(x.Candidates, k)
	if x.Hit == nil && over && r.takes(e, now) && r.comparableTo(e) && k.Verdict.Decision == reuse.Serve && !c.opt.Shadow && !r.ExactOnly {
		x.Hit = &Hit{Entry: e, Topic: m.Topic}
	}
}
