package cache

import (
	"reprise/policy"
	"reprise/store"
	"reprise/topics/reuse/evidence"
)

// Pair is a request and a stored answer that was found for it by meaning, without their texts.
type Pair struct {
	Request store.Key // of the request
	Entry   store.Key // of the entry
	ID      policy.ID // of the entry, which may have left
	Case    evidence.Case
}

// Suspect keeps the entry of a pair from answering the request in this process from now on, before there is a verdict. undo takes that back;
// what was known to be wrong stays so.
func (a *Verdicts) Suspect(p Pair) (undo func()) {
	if a.wrong.has(p.Request, p.Entry) {
		return func() {}
	}
	a.wrong.add(p.Case.Tenant, p.Request, p.Entry)
	return func() { a.wrong.remove(p.Case.Tenant, p.Request, p.Entry) }
}

// Reviewed counts the verdict of an operator on a pair. One that is right makes an alias the next time that the entry answers the request; one
// that is wrong keeps it from answering, in all processes. Where a client, or another operator, has given a verdict on the same answer, it is not
// counted again, but a wrong answer is kept back all the same.
func (a *Verdicts) Reviewed(p Pair, right bool) error {
	of := pair{p.Request, p.ID}
	if !a.recent.review(of, p.Entry) {
		if right {
			return nil
		}
		return a.holdBack(of, p.Entry, p.Case.Tenant)
	}
	if e, ok := a.state.store.Get(p.ID); right && ok && e.Key == p.Entry {
		a.recent.confirmed(p.Request, e, p.Case)
	}
	return a.verdict(of, p.Entry, p.Case, right, evidence.Operator)
}
