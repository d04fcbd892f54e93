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

// observe tells Options.Observe of q and its entry. parent is 0 where none was found now.
func (s *Server) observe(q *query, e *store.Entry, parent policy.ID, vector []float32, hit bool) {
	if s.opts.Observe == nil {
		return
	}
	r := Observation{At: q.tick.At, Hit: hit, Turn: len(q.Turns), Topic: e.Topic, Tokens: e.InputTokens + e.OutputTokens, Vector: vector}
	r.ID, r.Conversation, r.Scope, r.Chain = e.Key.Short(), store.Key(q.Key).Short(), store.Key(e.Scope).Short(), store.Key(e.Chain).Short()
	if len(q.Turns) > 0 {
		r.Conversation = store.Key(q.Turns[0].Key).Short()
	}
	if p, ok := s.store.Get(parent); ok {
		r.Parent = p.Key.Short()
	}
	dim := 0
	if e.Prompt != "" {
		dim = s.opts.Embedder.Dim()
	}
	r.Size = e.Footprint(dim)
	if s.opts.LogPrompts {
		r.Prompt = q.Prompt
	}
	s.opts.Observe(r)
}
