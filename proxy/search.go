package proxy

import (
	"context"
	"crypto/sha256"
	"time"

	"reprise/policy"
	"reprise/proxy/canon"
	"reprise/store"
	"reprise/topics"
)

// finding is what the search by meaning learned of a request, whether it found an answer or not.
type finding struct {
	hit    *served
	chain  topics.ChainID
	parent policy.ID // the entry that gave the last answer of the conversation
	vector []float32 // nil: nothing to compare by
	route  topics.Route
	detail []string // what stood in the way, for the tells
}

// search is steps 3 to 5 of a request: embed the prompt, route it, verify the nearest members, let the guards judge.
// Whatever goes wrong on the way, the finding has no hit.
func (s *Server) search(ctx context.Context, q *query) *finding {
	found := &finding{parent: s.lastAnswer(q.Turns)}
	if !s.meaning() || q.Prompt == "" || q.d.ExactOnly {
		if q.ExactOnly != "" {
			found.detail = append(found.detail, "exact-only="+q.ExactOnly)
		}
		return found
	}
	if !s.guarded("embed", func() error { return s.embed(ctx, q, found) }) {
		found.detail = append(found.detail, "degraded=embed")
		return found
	}
	if found.vector == nil {
		return found
	}
	ok := s.guarded("topics", func() error {
		start := s.opts.Now()
		found.chain = s.resolve(q.Turns)
		found.route = s.route(topics.Query{Scope: topics.ScopeID(q.Scope), Chain: found.chain, Vector: found.vector,
			Hit: q.d.Threshold})
		s.metrics.step(stepSearch, s.opts.Now().Sub(start))
		return s.verify(q, found)
	})
	if !ok {
		found.hit = nil
		found.detail = append(found.detail, "degraded=topics")
	}
	if found.hit == nil && found.route.Topic != 0 {
		s.guarded("policy", func() error { s.store.Arrive(policy.TopicID(found.route.Topic), q.tick); return nil })
	}
	return found
}

// route searches, after new anchors are chosen where some left.
func (s *Server) route(q topics.Query) topics.Route {
	for {
		if r, ok := s.topics.Search(q); ok {
			return r
		}
		s.topics.Refresh(q.Scope)
	}
}

// resolve turns the earlier turns of a conversation into its chain: each turn is its key and the assistant's reply, and
// where the key is an alias, the key of the entry that answered it, if the reply is that entry's answer. So two
// conversations that were led by different words to the same answers are equivalent, and nothing else is.
func (s *Server) resolve(turns []canon.Turn) (chain topics.ChainID) {
	for _, t := range turns {
		asked, reply := store.Key(t.Key), t.AnswerText
		if reply == (canon.Hash{}) {
			reply = t.Answer // not one message of text: its canonical bytes stand for it
		} else if e := s.answered(t); e != nil {
			asked = e.Key
		}
		var link [3 * 32]byte
		copy(link[:], chain[:])
		copy(link[32:], asked[:])
		copy(link[64:], reply[:])
		chain = sha256.Sum256(link[:])
	}
	return chain
}

// answered is the entry that t's answer came from; nil where none has it.
func (s *Server) answered(t canon.Turn) *store.Entry {
	if e, _, ok := s.store.Lookup(store.Key(t.Key)); ok && t.AnswerText != (canon.Hash{}) && e.AnswerHash == t.AnswerText {
		return e
	}
	return nil
}

// lastAnswer is the entry that the last answer of a conversation came from, which the next request depends on.
func (s *Server) lastAnswer(turns []canon.Turn) policy.ID {
	if len(turns) == 0 {
		return 0
	}
	if e := s.answered(turns[len(turns)-1]); e != nil {
		return e.ID
	}
	return 0
}

// verify serves the nearest member that is alive, fresh and passed by the guards.
func (s *Server) verify(q *query, found *finding) error {
	now := s.opts.Now()
	for _, m := range found.route.Matches {
		e, ok := s.store.Get(policy.ID(m.ID))
		if !ok { // evicted between its Put and its Add, or by the request of a moment ago
			s.topics.Forget(m.ID)
			continue
		}
		if s.store.Expired(e.ID, q.tick) {
			s.forget(s.store.Remove(e.ID))
			continue
		}
		if !q.takes(e, now) {
			continue
		}
		if veto := s.opts.Guard(e.Prompt, q.Prompt); veto != "" {
			s.metrics.veto(veto)
			found.detail = append(found.detail, "veto="+string(veto))
			continue
		}
		if s.opts.Mode == ModeShadow {
			s.metrics.shadowHits.Add(1)
			found.detail = append(found.detail, "shadow=hit")
			return nil
		}
		return s.found(q, found, e, m, now)
	}
	return nil
}

func (s *Server) found(q *query, found *finding, e *store.Entry, m topics.Match, now time.Time) error {
	hit, err := s.serve(q, e, Semantic, now)
	if err != nil {
		return err
	}
	hit.vector = found.vector
	hit.tells.detail = append(append(hit.tells.detail, found.detail...), "topic="+utoa(uint64(m.Topic)))
	found.hit = hit
	if !q.d.private() {
		s.store.Alias(store.Key(q.Key), e.ID)
	}
	return nil
}

// detectParent records the access and names a parent for an entry that has none yet (paper 002, DETECTPARENT).
func (s *Server) detectParent(id policy.ID, seq int64) policy.ID {
	parent, searched := s.topics.ParentOf(topics.EntryID(id), seq)
	s.topics.Touch(topics.EntryID(id), seq, parent, searched)
	return policy.ID(parent)
}

// weigh hands what the policy has newly judged important to the topics, which choose their anchors by it.
func (s *Server) weigh(changed []store.Weight) {
	for _, w := range changed {
		s.topics.SetImportance(topics.EntryID(w.ID), w.Importance)
	}
}

// forget tells the topics of entries that the store has dropped.
func (s *Server) forget(ids []policy.ID) {
	gone := make([]topics.EntryID, len(ids))
	for i, id := range ids {
		gone[i] = topics.EntryID(id)
	}
	s.topics.Forget(gone...)
}

// loadTopics rebuilds the topics from what the store has kept. Where nothing is compared by meaning they stay empty, and the
// store lets go of the vectors all the same.
func (s *Server) loadTopics() {
	s.topics.SetNext(topics.TopicID(s.store.MaxTopic()) + 1)
	for e, last := range s.store.Restored() {
		if e.Vector == nil || !s.meaning() {
			continue
		}
		s.guarded("topics", func() error {
			_, _, err := s.topics.Add(topics.Member{ID: topics.EntryID(e.ID), Scope: topics.ScopeID(e.Scope), Chain: e.Chain,
				Vector: e.Vector, Topic: topics.TopicID(e.Topic), Parent: topics.EntryID(e.Parent), Last: last,
				Importance: s.store.Importance(e.ID)})
			return err
		})
	}
}
