package cache

import (
	"reprise/policy"
	"reprise/store"
)

// Passed is a request as the policy saw it: one that an entry answered, or whose answer was given to the store, whether or not the policy
// has kept it.
type Passed struct {
	Who    uint64         // the identity of the entry: store.Key.Short of its key
	Parent uint64         // the identity that it depends on, as Cause.ParentKey; 0: none
	Topic  policy.TopicID // of the entry
	Turn   int32          // in its conversation, from 0
	Size   int64          // bytes under the limit of the store
	Tokens int64          // of the answer, and of its prompt
	At     policy.Tick
	Hit    bool
	// Renewed: the entry was there, and could not answer: it has expired, or the client wanted a new answer.
	Renewed bool
}

// passing passes requests on.
type passing struct {
	turns turns
	to    func(*Passed) // nil: none is passed on
}

// of is a request of r that e answers, or answered before.
func (s passing) of(r *Request, e *store.Entry, parent policy.ID) Passed {
	p := Passed{At: r.At}
	if s.to == nil {
		return p
	}
	p.Who, p.Topic, p.Turn, p.Size, p.Tokens = e.Key.Short(), e.Topic, int32(len(r.Turns)), e.Size, e.InputTokens+e.OutputTokens
	if parent != 0 || len(r.Turns) > 0 {
		p.Parent = s.turns.parentKey(r, parent)
	}
	return p
}

// inserted passes on p, whose answer was put into the store, with what that has changed.
func (s passing) inserted(evs []Event, p *Passed) {
	for i := range evs {
		if ev := &evs[i]; ev.Kind == store.EventInsert && s.to != nil {
			p.Topic, p.Size, p.Renewed = ev.Entry.Topic, ev.Entry.Size, ev.Replaced
			s.to(p)
		}
	}
}

// used passes on a use, whose parent may have been found only now.
func (s passing) used(u *use, parent policy.ID) {
	if s.to == nil {
		return
	}
	if parent != 0 && u.passed.Parent == 0 {
		u.passed.Parent = s.turns.parentKey(&Request{}, parent)
	}
	u.passed.Hit = true
	s.to(&u.passed)
}
