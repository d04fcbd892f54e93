package cache

import (
	"reprise/policy"
	"reprise/store"
)

// Passed is a request as the policy saw it: one that an entry answered, or whose answer was given to the store, whether or not the policy
// has kept it. The zero value is none.
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

// passed is a request of r that e answers, or answered before.
func (s *state) passed(r *Request, e *store.Entry, parent policy.ID) (p Passed) {
	if !s.studied {
		return p
	}
	p = Passed{Who: e.Key.Short(), Topic: e.Topic, Turn: int32(len(r.Turns)), Size: e.Size, Tokens: e.InputTokens + e.OutputTokens, At: r.At}
	if parent != 0 || len(r.Turns) > 0 {
		p.Parent = s.turns.parentKey(r, parent)
	}
	return p
}

// inserted notes p, whose answer was put into the store, with what that has changed.
func (f *Finding) inserted(p Passed, evs []Event) {
	for i := range evs {
		if ev := &evs[i]; ev.Kind == store.EventInsert {
			p.Topic, p.Size, p.Renewed = ev.Entry.Topic, ev.Entry.Size, ev.Replaced
			f.Passed = p
		}
	}
}
