package proxy

import (
	"reprise/policy"
	"reprise/store"
)

// Observation is what Options.Observe is told of a request that an entry answered, or whose answer was given to the store: all
// that another policy would need to decide on the same request.
type Observation struct {
	At   float64 // seconds, from the start of the store
	Hit  bool    // the entry answered; else it was made of the answer, whether or not the policy has kept it
	Turn int     // earlier turns of the conversation

	// ID is the identity of the entry: the first bytes of its key. A request that was answered by meaning has that of the
	// entry that answered. Parent is that of the entry it depends on, Conversation that of the conversation's first
	// request. Scope and Chain tell what must be equal to share an answer by meaning: parameters, and earlier turns.
	ID, Parent, Conversation, Scope, Chain uint64 // 0: none
	Topic                                  policy.TopicID

	Size   int64     // bytes, as the capacity counts them
	Tokens int64     // that a hit saves
	Vector []float32 // of the prompt; nil where it was not compared by meaning
	Prompt string    // empty unless Options.LogPrompts
}

// observation is what there is to tell of q and its entry, which depends on parent, 0 for none. For an entry that is not
// stored yet Size is to be filled in.
func (s *Server) observation(q *query, e *store.Entry, parent policy.ID, vector []float32, hit bool) Observation {
	r := Observation{At: q.tick.At, Hit: hit, Turn: len(q.Turns), Topic: e.Topic, Tokens: e.InputTokens + e.OutputTokens, Vector: vector}
	r.ID, r.Scope, r.Chain = e.Key.Short(), store.Key(e.Scope).Short(), store.Key(e.Chain).Short()
	r.Conversation, r.Parent = store.Key(q.Key).Short(), s.parentOf(q, parent)
	if len(q.Turns) > 0 {
		r.Conversation = store.Key(q.Turns[0].Key).Short()
	}
	if e.Prompt == "" {
		r.Size = e.Footprint(0)
		return r
	}
	r.Size = e.Footprint(s.opts.Embedder.Dim())
	if s.opts.LogPrompts {
		r.Prompt = q.Prompt
	}
	return r
}

// parentOf is the identity of parent. Where that is not resident it is the request before in the conversation, which
// another cache may have.
func (s *Server) parentOf(q *query, parent policy.ID) uint64 {
	if p, ok := s.store.Get(parent); ok {
		return p.Key.Short()
	}
	if last := len(q.Turns) - 1; last >= 0 {
		before := store.Key(q.Turns[last].Key)
		if _, _, ok := s.store.Lookup(before); !ok { // resident, it would have given another answer
			return before.Short()
		}
	}
	return 0
}
