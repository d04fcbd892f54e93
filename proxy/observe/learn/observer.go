package learn

import (
	"reprise/policy"
	"reprise/proxy/observe"
	"reprise/store"
	"reprise/topics/reuse"
	"reprise/topics/reuse/evidence"
)

// Ended counts an answer that was found by meaning, and the vetoes, and keeps the pair in mind. Where the upstream was asked although a stored
// answer was there, it has both compared.
func (l *Learner) Ended(o *observe.Outcome) {
	f := o.Found
	switch {
	case f == nil:
	case o.Answered:
		for _, veto := range f.Vetoes {
			l.vetoed(veto)
		}
		if hit := o.Reused; hit != nil {
			l.Served(&f.Verdict, string(f.Basis))
			p := l.pair(o, hit.Entry, &f.Verdict, string(f.Basis))
			l.Met(Served, &p)
		}
	case f.Explore != nil:
		l.explored(o)
	case f.Almost != nil:
		l.almost(o)
	}
}

// Forget removes from the pairs what a purge names, by the entry that was found or by the one that was made of the upstream's answer: the pairs
// have the prompts of both.
func (l *Learner) Forget(f store.Filter) {
	l.Purge(func(x *Shadowed) bool {
		labels := &store.Labels{Tenant: x.Tenant, Namespace: x.Namespace, Model: x.Model, Endpoint: x.Endpoint}
		found := store.Entry{ID: policy.ID(x.Entry), Topic: policy.TopicID(x.Topic), Labels: labels}
		own := store.Entry{ID: policy.ID(x.Own), Topic: policy.TopicID(x.OwnTopic), Labels: labels}
		return f.Matches(&found) || f.Matches(&own)
	})
}

// explored has the upstream's answer compared with the stored one that the search has found.
func (l *Learner) explored(o *observe.Outcome) {
	f, hit, source, came := o.Found, o.Found.Explore, evidence.Explored, o.Came
	if f.Shadow {
		source = evidence.Shadow
	}
	req := *o.Request // without what holds the body in memory
	req.Turns, req.Data = nil, nil
	p := l.pair(o, hit.Entry, &f.Verdict, string(f.Basis))
	p.Source, p.Fresh, p.Why = source, o.Call.Text, o.Call.NoText
	l.answered(&p.Place, o)
	p.Stored = func() (string, bool, error) { return l.o.Stored(hit) }
	p.Current = func() bool { return !came.Stale() && l.o.Serves(hit) }
	p.Learn = func(outcome evidence.Outcome) { l.o.Learn(&req, f, outcome, source) }
	l.Compare(p)
}

// almost keeps an answer in mind that the request almost got.
func (l *Learner) almost(o *observe.Outcome) {
	n := o.Found.Almost
	p, kind := l.pair(o, n.Entry, &n.Verdict, string(n.Basis)), Refused
	if n.Below {
		kind = Below
	}
	p.Verdict.Case.Similarity = n.Similarity
	l.answered(&p.Place, o)
	l.Met(kind, &p)
}

// pair is what an operator may look at of a request and a stored answer that was found for it.
func (l *Learner) pair(o *observe.Outcome, e *store.Entry, v *reuse.Verdict, basis string) Pair {
	came := o.Came
	return Pair{Verdict: *v, Basis: basis, Ref: Ref{Request: o.Request.Key, Entry: e.Key}, Private: o.NoStore, StoredPrompt: e.Prompt, Prompt: o.Prompt,
		Place:   Place{Entry: uint64(e.ID), Topic: uint64(e.Topic), Tenant: o.Tenant, Namespace: o.Namespace, Model: o.Model, Endpoint: o.Route, At: l.o.Now()},
		Current: func() bool { return !came.Stale() }}
}

// answered adds to a place what the upstream has answered.
func (l *Learner) answered(p *Place, o *observe.Outcome) {
	p.Upstream = o.Call.Took
	if own := o.Call.Kept; own != nil {
		p.Own, p.OwnTopic = uint64(own.ID), uint64(l.o.OwnTopic(own.ID))
	}
}
