package cache

import (
	"context"
	"errors"
	"slices"
	"time"

	"reprise/policy"
	"reprise/store"
	"reprise/topics"
	"reprise/topics/frames"
)

// Where a frame comes into force, entries of its scope are in the place of prompts without one. The reviver moves them, a few at a time: their vectors
// are computed again from what they ask. Until all are moved, a request that finds nothing under its frame is looked for as it would have been before.

// movePauses is how many times as long as moving took the reviver waits before it moves again: it looks at every entry.
const movePauses = 20

// mostRefused is how many entries of a batch an embedder refuses at most before it is taken for one that does not work.
const mostRefused = 3

// move moves the entries of scopes with new frames. After a fault it is to be called again.
func (r *reviver) move(ctx context.Context) (fault error) {
	bases := r.c.state.templates.toMove()
	if len(bases) == 0 {
		return nil
	}
	var ids []policy.ID
	for e := range r.c.state.store.All() {
		if _, moves := r.c.state.destination(e, bases); moves {
			ids = append(ids, e.ID)
		}
	}
	slices.Reverse(ids) // the last ones first
	for part := range slices.Chunk(ids, reviveMost) {
		began := time.Now()
		if err := r.moveAll(ctx, part, bases); err != nil {
			return err
		}
		sleep(ctx, revivePauses*time.Since(began))
	}
	r.c.state.templates.endMoves(bases)
	return nil
}

// moveAll moves some entries, and where the embedder refuses them together, each by itself: one that it refuses then stays.
func (r *reviver) moveAll(ctx context.Context, ids []policy.ID, bases map[store.Scope]int) error {
	err := guard("frames", func() error { return r.movePart(ctx, ids, bases) })
	for refused := 0; err != nil && len(ids) > 0; ids = ids[1:] {
		if ctx.Err() != nil || r.c.embedder.open() || refused == mostRefused {
			return err
		}
		if guard("frames", func() error { return r.movePart(ctx, ids[:1], bases) }) != nil {
			refused++
		}
	}
	return ctx.Err()
}

// destination is where e belongs now, and whether that is another place than it has. One whose earlier turns are not known apart from what its prompt
// holds beside the ask stays.
func (s *state) destination(e *store.Entry, bases map[store.Scope]int) (to *asked, moves bool) {
	base := e.Scope
	p, framed := s.templates.placed(e.Scope)
	if framed {
		if _, learnt := p.cut.(*frames.Frame); !learnt { // a declaration stays
			return nil, false
		}
		base = p.base
	}
	if _, ok := bases[base]; !ok || e.Prompt == "" {
		return nil, false
	}
	chain, was := topics.ChainID(e.Chain), s.templates.cut(e)
	switch { // its turn does not tell: that is kept apart from the entry, and may be lost
	case e.Chain == behind(topics.ChainID{}, was.Rest):
		chain = topics.ChainID{}
	case was.Rest != [32]byte{}:
		return nil, false
	}
	by, cut := s.cut(&Request{Scope: base, Prompt: e.Prompt}, false)
	to = &asked{scope: underFrame(base, cut.ID), chain: behind(chain, cut.Rest)}
	if to.scope == e.Scope {
		return nil, false
	}
	to.take(&cut, e.Prompt)
	if by != nil {
		s.templates.place(to.scope, base, by)
	}
	return to, true
}

// movePart moves those of some entries that are still there and misplaced.
func (r *reviver) movePart(ctx context.Context, ids []policy.ID, bases map[store.Scope]int) error {
	var texts []string
	var entries []*store.Entry
	var places []*asked
	for _, id := range ids {
		e, ok := r.c.state.store.Get(id)
		if !ok {
			continue
		}
		if to, moves := r.c.state.destination(e, bases); moves {
			entries, places, texts = append(entries, e), append(places, to), append(texts, to.vectorText())
		}
	}
	vectors, err := r.c.opt.Embedder.Embed(ctx, texts)
	if err != nil || len(vectors) != len(texts) {
		return err
	}
	for i, e := range entries {
		if vectors[i] == nil {
			continue
		}
		if err := r.c.state.moveEntry(e, places[i], vectors[i]); err != nil {
			return err
		}
		if r.c.state.forms != nil {
			err = errors.Join(err, r.c.state.forms.addEntry(e.ID))
		}
	}
	return err
}

// moveEntry moves e, unless another answer has taken its place meanwhile.
func (s *state) moveEntry(e *store.Entry, to *asked, vector []float32) error {
	route := s.route(topics.Query{Scope: topics.ScopeID(to.scope), Chain: to.chain, Vector: vector})
	s.lock()
	defer s.mu.Unlock()
	if now, ok := s.store.Get(e.ID); !ok || !now.Same(e) {
		return nil
	}
	topic := route.Topic
	if topic == 0 {
		topic = s.topics.NewTopic()
	}
	// Others that share the store have places of their own, which are equal where they have seen the same prompts.
	log := s.log
	s.log = nil
	defer func() { s.log = log }()
	evs := s.store.Move(e.ID, store.Entry{Scope: to.scope, Chain: to.chain, Topic: policy.TopicID(topic), Vector: vector})
	return s.settleLocked(evs, topic, nil)
}
