package cache

import (
	"context"
	"errors"
	"slices"
	"time"

	"reprise/policy"
	"reprise/store"
	"reprise/topics"
	"reprise/topics/frames"
	"reprise/topics/reuse"
	"reprise/topics/reuse/normal"
)

// Explanation is what the cache would do with a request, and why.
type Explanation struct {
	Hit        *Hit       // what would be served now, nothing being explored; nil: a miss
	Thresholds Thresholds // the gates in force for this request
	Route      topics.Route
	Asked      *normal.Form // of the request's prompt; nil where nothing is compared
	Cut        frames.Cut   // of the request's prompt, where it is compared
	Framed     Framed       // what it was cut by: without a frame and a declaration, the prompt alone
	Candidates []Candidate  // the one that was found by its form, then entries over the hit gate, or else the nearest one; best first
	Degraded   string       // the step that failed, "" if none did
	// Finding is what Find would have returned without a hit: its vetoes, its bar, the answer that would be compared.
	Finding *Finding
}

// Thresholds are cosine gates.
type Thresholds struct{ Hit, Route, Edge float64 }

// Candidate is an entry that a request was compared with.
type Candidate struct {
	Entry      *store.Entry
	Stored     *normal.Form // of its prompt; Verdict.Edits are spans of it and of Explanation.Asked
	ByForm     bool         // it was found by its form: no similarity decides
	Similarity float64      // 0 where none was computed
	Verdict    reuse.Verdict
	Refused    bool // a verdict of before keeps it from answering this request
	OverGate   bool
	Fresh      bool
}

// Explain returns what Lookup and Find would do with r, and serves nothing. Similarities help an attacker: keep them from clients.
func (c *Cache) Explain(ctx context.Context, r *Request) (*Explanation, error) {
	th := c.opt.Thresholds
	f := &Finding{}
	x := &Explanation{Thresholds: Thresholds{c.opt.gate(r), th.Route, th.Edge}, Finding: f}
	e, alias, ok := c.state.store.Lookup(r.Key)
	if alias {
		_, _, ok = c.opt.aliasAllowed(r, e, c.verdicts)
	}
	if ok && r.takes(e, c.opt.Now()) {
		x.Hit = &Hit{Entry: e, Alias: alias}
	}
	if !c.opt.Meaning || r.Prompt == "" {
		return x, nil
	}
	f.Compared = c.opt.comparable(r)
	failed := guard("explain", func() error { c.explainForm(r, f, x); return nil })
	return x, errors.Join(failed, c.explainMeaning(ctx, r, f, x))
}

func (c *Cache) explainForm(r *Request, f *Finding, x *Explanation) {
	f.ask(c.state, r, false)
	x.Cut, x.Framed = c.cut(r)
	if c.state.forms == nil || f.asked.text == "" {
		return
	}
	e, stored := c.state.forms.find(r, f)
	x.Asked = f.form
	if e != nil {
		x.compare(c, r, f, Candidate{Entry: e, Stored: stored, ByForm: true})
	}
}

// cut is how the prompt of r is cut, and by what.
func (c *Cache) cut(r *Request) (frames.Cut, Framed) {
	by, cut := c.state.cut(r, false)
	in := Framed{Base: r.Scope}
	if n, ok := by.(*narrowed); ok {
		by = n.by
	}
	in.Frame, _ = by.(*frames.Frame)
	in.Ask, _ = by.(*frames.Declared)
	return cut, in
}

func (c *Cache) explainMeaning(ctx context.Context, r *Request, f *Finding, x *Explanation) error {
	err := guard("explain", func() error {
		if err := c.embed(ctx, r, f); err != nil || f.Vector == nil {
			return err
		}
		x.Route = c.state.route(topics.Query{Scope: topics.ScopeID(f.asked.scope), Chain: f.Chain, Vector: f.Vector, Hit: c.opt.gate(r), Nearest: true})
		return nil
	})
	if err != nil {
		x.Degraded, f.Degraded = "embed", "embed"
		return err
	}
	f.Route = x.Route
	near := x.Route.Matches
	if len(near) == 0 && x.Route.Nearest.ID != 0 {
		near = append(near, x.Route.Nearest)
	}
	for _, m := range near {
		over := slices.Contains(x.Route.Matches, m)
		if e, ok := c.state.store.Get(policy.ID(m.ID)); ok && !x.has(e, m.Score, over) {
			x.compare(c, r, f, Candidate{Entry: e, Similarity: m.Score, OverGate: over})
		}
	}
	return nil
}

// has adds the similarity of e to the candidate that was found by its form, and reports whether that is e.
func (x *Explanation) has(e *store.Entry, similarity float64, over bool) bool {
	if len(x.Candidates) == 0 || x.Candidates[0].Entry.ID != e.ID {
		return false
	}
	x.Candidates[0].Similarity, x.Candidates[0].OverGate = similarity, over
	return true
}

// compare adds a candidate.
func (x *Explanation) compare(c *Cache, r *Request, f *Finding, k Candidate) {
	now := c.opt.Now()
	if k.Stored == nil && x.Asked != nil {
		k.Stored = c.state.forms.of(k.Entry)
	}
	k.Verdict, k.Refused, k.Fresh = c.learner.judge(r, f, k.Entry, k.Stored, k.Similarity, neverExplore), c.verdicts.refuses(r.Key, k.Entry), r.fresh(k.Entry, now)
	x.Candidates = append(x.Candidates, k)
	near := k.OverGate || k.ByForm && !c.opt.raised(r)
	if near && f.Compared {
		f.explained(r, &k, now)
	}
	allowed := near && !k.Refused && r.comparableTo(k.Entry) && !r.Shadow && !r.ExactOnly
	if x.Hit == nil && allowed && r.takes(k.Entry, now) && k.Verdict.Decision == reuse.Serve {
		x.Hit = &Hit{Entry: k.Entry, Topic: topics.TopicID(k.Entry.Topic)}
	}
}

// explained notes what a search would note of a candidate over the gate.
func (f *Finding) explained(r *Request, k *Candidate, now time.Time) {
	switch {
	case f.Shadow || f.Fallback:
	case k.Refused:
		f.barred(BarRefused, k.Entry)
	case f.barred(r.bar(k.Entry, now), k.Entry):
	case k.Verdict.Decision == reuse.Miss:
		if why := k.Verdict.Refusal(); why != reuse.Pass {
			f.Vetoes = append(f.Vetoes, why)
			f.about(k.Entry)
		}
	case k.Verdict.Decision == reuse.Explore && f.Explore == nil:
		f.Explore = &Hit{Entry: k.Entry}
	case k.Verdict.Decision == reuse.Serve && r.Shadow:
		f.Shadow, f.Explore = true, &Hit{Entry: k.Entry}
	}
}
