package learn

import (
	"errors"
	"time"

	"reprise/policy"
	"reprise/proxy/cache"
)

// undoTime is how long the verdict of an operator may be taken back.
const undoTime = 10 * time.Second

// Errors of a verdict.
var (
	// errUnknownReview: there is no pair with this id, or none any more: newer ones took its place, or a purge has removed it.
	errUnknownReview = errors.New("the pair is not known")
	// errSaid: there is a verdict on the pair.
	errSaid = errors.New("there is a verdict on this pair already")
	// errTooLate: the verdict has been counted, or there is none.
	errTooLate = errors.New("there is no verdict that may be taken back")
)

// said is a verdict that may still be taken back.
type said struct {
	right  bool
	of     Reviewed
	timer  *time.Timer
	revert func() // what it has changed at once
}

// say gives an operator's verdict on a pair: whether the stored answer is right for the request. A wrong answer is not served to the request from
// now on. The verdict counts when undoTime is over, or at Close.
func (l *Learner) say(id uint64, right bool) (Reviewed, error) {
	l.reviews.mu.Lock()
	defer l.reviews.mu.Unlock()
	one := l.reviews.find(id)
	switch {
	case one == nil:
		return Reviewed{}, errUnknownReview
	case one.Verdict != "":
		return *one, errSaid
	}
	v := &said{right: right, revert: func() {}}
	if one.Verdict, one.Undo = verdictRight, true; !right {
		one.Verdict = verdictWrong
		v.revert = l.o.Verdicts.Suspect(one.pair())
	}
	v.of = *one
	v.of.StoredPrompt, v.of.Prompt = "", "" // a purge in the meantime does not come here
	v.timer = time.AfterFunc(undoTime, func() { l.settle(id) })
	l.verdicts[id] = v
	return *one, nil
}

// unsay takes a verdict back.
func (l *Learner) unsay(id uint64) (Reviewed, error) {
	l.reviews.mu.Lock()
	defer l.reviews.mu.Unlock()
	v := l.verdicts[id]
	if v == nil {
		return Reviewed{}, errTooLate
	}
	v.timer.Stop()
	delete(l.verdicts, id)
	v.revert()
	one := l.reviews.find(id)
	if one == nil {
		return Reviewed{}, errUnknownReview
	}
	one.Verdict, one.Undo = "", false
	return *one, nil
}

// pair is a pair in the form of the cache.
func (r *Reviewed) pair() cache.Pair {
	return cache.Pair{Request: r.Ref.Request, Entry: r.Ref.Entry, ID: policy.ID(r.Entry), Case: r.Decision.Case}
}

// settle counts a verdict that was not taken back.
func (l *Learner) settle(id uint64) {
	l.reviews.mu.Lock()
	v := l.verdicts[id]
	delete(l.verdicts, id)
	if one := l.reviews.find(id); one != nil {
		one.Undo = false
	}
	l.reviews.mu.Unlock()
	if v == nil {
		return
	}
	l.o.Server.Guard("verdict", func() error {
		if v.of.Kind == kindRefused || v.of.Kind == kindBelow { // nothing was served
			l.counts.refusal(v.right)
		} else {
			l.Verdict(v.right)
		}
		if v.of.Decision.P == 0 { // what is never served has no estimate
			return nil
		}
		return l.o.Verdicts.Reviewed(v.of.pair(), v.right)
	})
}

// settleAll counts all verdicts at once.
func (l *Learner) settleAll() {
	l.reviews.mu.Lock()
	var ids []uint64
	for id, v := range l.verdicts {
		v.timer.Stop()
		ids = append(ids, id)
	}
	l.reviews.mu.Unlock()
	for _, id := range ids {
		l.settle(id)
	}
}
