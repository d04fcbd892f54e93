package learn

import (
	"reprise/policy"
	"reprise/proxy/cache"
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
			l.served(&f.Verdict, string(f.Basis))
			p := l.pair(o, hit.Entry, &f.Verdict, f.Basis)
			l.uncompared(kindServed, &p)
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
	l.purge(func(x *Shadowed) bool {
		labels := &store.Labels{Tenant: x.Tenant, Namespace: x.Namespace, Model: x.Model, Endpoint: x.Endpoint}
		found := store.Entry{ID: policy.ID(x.Entry), Topic: policy.TopicID(x.Topic), Labels: labels}
		own := store.Entry{ID: policy.ID(x.Own), Topic: policy.TopicID(x.OwnTopic), Labels: labels}
		return f.Matches(&found) || f.Matches(&own)
	})
	l.forgetPlaces(func(p *Place) bool {
		return f.Matches(&store.Entry{Labels: &store.Labels{Tenant: p.Tenant, Namespace: p.Namespace, Model: p.Model, Endpoint: p.Endpoint}})
	})
}

// explored has the upstream's answer compared with the stored one that the search has found.
func (l *Learner) explored(o *observe.Outcome) {
	f := o.Found
	request := *o.Request // without what holds the body in memory
	request.Turns, request.Family = nil, nil
	p := l.pair(o, f.Explore.Entry, &f.Verdict, f.Basis)
	p.Request, p.Found, p.Fresh, p.Why = &request, f, o.Call.Text, o.Call.NoText
	if p.Source = evidence.Explored; f.Shadow {
		p.Source = evidence.Shadow
	}
	l.compare(p)
}

// almost keeps an answer in mind that the request almost got.
func (l *Learner) almost(o *observe.Outcome) {
	n := o.Found.Almost
	p, kind := l.pair(o, n.Entry, &n.Verdict, n.Basis), kindRefused
	if n.Below {
		kind = kindBelow
	}
	p.Verdict.Case.Similarity = n.Similarity
	l.uncompared(kind, &p)
}

// pair is what an operator may look at of a request and a stored answer that was found for it.
func (l *Learner) pair(o *observe.Outcome, e *store.Entry, v *reuse.Verdict, basis cache.Basis) Pair {
	p := Pair{Came: o.Came, Verdict: *v, Basis: string(basis), Ref: Ref{Request: o.Request.Key, Entry: e.Key}, Private: o.NoStore, whole: o.Prompt,
		Place: Place{Entry: uint64(e.ID), Topic: uint64(e.Topic), Tenant: o.Tenant, Namespace: o.Namespace, Model: o.Model, Endpoint: o.Route, At: l.o.Now(),
			Upstream: o.Call.Took}}
	p.StoredPrompt, p.Prompt = l.o.Cache.Asked(e, o.Prompt)
	if own := o.Call.Kept; own != nil {
		p.Place.Own = uint64(own.ID)
		if e, ok := l.o.Cache.Get(own.ID); ok {
			p.Place.OwnTopic = uint64(e.Topic)
		}
	}
	return p
}
