package cache

import (
	"errors"

	"reprise/policy"
	"reprise/store"
	"reprise/topics/reuse/compare"
	"reprise/topics/reuse/evidence"
)

// Errors of Feedback.
var (
	// ErrUnknownHit: no answer of this entry was found by meaning of late, or it is of another tenant.
	ErrUnknownHit = errors.New("no answer by meaning of this entry is known")
	// ErrCounted: there was a verdict on this answer already.
	ErrCounted = errors.New("there is a verdict on this answer already")
)

// Verdicts is the part of a Cache that makes keys lead to entries that were found by meaning. An alias is made at once where the normal forms
// are equal, so that the next turn of a conversation has the same history as those that were led in other words; otherwise when the entry
// answers the key a second time, or a comparison with the upstream's answer came out the same.
type Verdicts struct {
	learner *learner
	state   *state
	gate    float64 // of hits, for all requests
	recent  recent
	wrong   pairs
	origins origins
	answers given
}

func newVerdicts(o *Options, l *learner, in *state) *Verdicts {
	return &Verdicts{learner: l, state: in, gate: o.Thresholds.Hit, recent: newRecent(), wrong: newPairs(),
		origins: origins{all: map[store.Key]store.Key{}}}
}

// holds reports whether k may lead to e, of which it is an alias, for r under a gate: the judge and its evidence would decide as they did, and
// the similarity is not below the gate. explore is the share of its answers that is compared. Where k may not, the request is searched for like
// a new one. The alias moves to what is found then, or stays and leads nowhere.
func (a *Verdicts) holds(r *Request, k store.Key, e *store.Entry, gate float64) (b basis, explore float64, ok bool) {
	b, wrong := a.basis(k, e)
	by := a.learner.current.Load()
	switch {
	case wrong:
		return b, 0, false
	case by.Judge == nil:
		return b, 0, gate <= a.gate
	case b.version() != a.learner.meaning.Load().version || b.byForm() && gate > max(a.gate, r.Gate) || !b.byForm() && b.steps() < steps(gate):
		return b, 0, false
	}
	c := a.learner.caseOf(r, b, e)
	ok, explore = by.Judge.Serves(&c, r.MaxError, a.learner.trustOf(r, e))
	return b, explore, ok
}

// refuses reports whether a verdict keeps e from serving k.
func (a *Verdicts) refuses(k store.Key, e *store.Entry) bool {
	_, wrong := a.basis(k, e)
	return wrong
}

// basis is why k is an alias of e, 0 where it is none, and whether a verdict keeps e from serving k.
func (a *Verdicts) basis(k store.Key, e *store.Entry) (b basis, wrong bool) {
	kept, _ := a.state.store.Basis(k, e.ID)
	return basis(kept), kept == refused || a.wrong.has(k, e.Key)
}

// found makes hit that of f, and the key of r an alias of its entry where that is earned.
func (a *Verdicts) found(r *Request, f *Finding, hit *Hit) error {
	f.Hit, f.Explore, f.Fallback = hit, nil, false
	e := hit.Entry
	if a.learner.current.Load().Judge == nil {
		if r.Private {
			return nil
		}
		return a.state.alias(r.Key, e.ID, 0, hit.At)
	}
	earned := a.recent.served(r.Key, e, f.Verdict.Case) || f.Basis == ByForm
	if now, alias, ok := a.state.store.Lookup(r.Key); ok && alias {
		if a.refuses(r.Key, now) { // what says so is worth more than another alias
			return nil
		}
		earned = earned || now.ID == e.ID
	}
	if r.Private || !earned {
		return nil
	}
	return a.state.alias(r.Key, e.ID, uint64(newBasis(a.learner.meaning.Load().version, f.Basis, &f.Verdict, f.similarity)), hit.At)
}

// Compared counts the result of comparing the stored answer of f.Explore with the upstream's answer to r. After evidence.Same, the next time
// that the entry answers the key makes an alias; after evidence.Different, it does not answer it again.
func (a *Verdicts) Compared(r *Request, f *Finding, result compare.Result, from evidence.Source) {
	if f.Explore == nil {
		return
	}
	sample := evidence.Sample{Case: f.Verdict.Case, Outcome: result.Outcome, Source: from, Closeness: result.Closeness, Rule: uint8(result.Rule())}
	switch e := f.Explore.Entry; {
	case f.Basis == Repeated:
		sample.Source = evidence.Repeated
	case result.Outcome == evidence.Same:
		a.recent.confirmed(r.Key, e, f.Verdict.Case)
		if !a.answers.tells(f.Verdict.Case, e, result.Echo, a.learner.draw()) {
			return
		}
	case result.Outcome == evidence.Different:
		a.wrong.add(f.Verdict.Case.Tenant, r.Key, e.Key)
	}
	a.learner.Learn(sample)
}

// kept notes that e, the upstream's answer to r, is in the words of the stored one with which it is to be compared, and whose prompt has the
// same form: a conversation that goes on from either is the same.
func (a *Verdicts) kept(r *Request, f *Finding, e *store.Entry) {
	if a.learner.judgeBy != nil && f.Compared && e.Labels != nil && e.Prompt != "" && e.AnswerHash != ([32]byte{}) {
		scope, _ := placeOf(r, e)
		a.answers.add(evidence.Case{Tenant: evidence.ID(e.Tenant), Scope: scope, Question: questionOf(f.formOf(r))}, e)
	}
	if f.Explore == nil || f.Basis != ByForm || e.AnswerHash == ([32]byte{}) || e.AnswerHash != f.Explore.Entry.AnswerHash {
		return
	}
	if first := a.origins.of(f.Explore.Entry.Key); first != r.Key {
		a.origins.add(f.Verdict.Case.Tenant, r.Key, first)
	}
}

// origin is the key by which an answer of e counts in a conversation.
func (a *Verdicts) origin(e *store.Entry) store.Key {
	if first := a.origins.of(e.Key); !a.wrong.has(e.Key, first) {
		return first
	}
	return e.Key
}

// Feedback counts a verdict on the last answer of an entry that was found by meaning, among the last few thousand of these, from
// evidence.Feedback or evidence.Operator. of reports whether the caller may judge answers with such labels. An entry whose answer was wrong
// does not answer the same request again, in no process, until the request has had an answer of its own.
func (a *Verdicts) Feedback(of func(*store.Labels) bool, id policy.ID, right bool, from evidence.Source) error {
	s, err := a.recent.judged(of, id)
	if err != nil {
		return err
	}
	return a.verdict(s.pair, s.entry, s.Case, right, from)
}

// verdict counts one from outside on the answer of an entry, which has a key of its own, to another request.
func (a *Verdicts) verdict(p pair, entry store.Key, c evidence.Case, right bool, from evidence.Source) error {
	sample := evidence.Sample{Case: c, Outcome: evidence.Different, Source: from}
	if right {
		sample.Outcome = evidence.Same
	}
	a.learner.Learn(sample)
	if right {
		return nil
	}
	return a.holdBack(p, entry, c.Tenant)
}

// holdBack keeps the answer of an entry, which has a key of its own, from a request.
func (a *Verdicts) holdBack(p pair, entry store.Key, tenant uint64) error {
	a.wrong.add(tenant, p.key, entry)
	return a.state.refuse(p.key, p.id)
}
