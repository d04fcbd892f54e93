package cache

import (
	"context"
	"errors"

	"reprise/policy"
	"reprise/store"
	"reprise/topics"
)

// ErrTaken: another answer has taken the place of one that was to be put back.
var ErrTaken = errors.New("there is another answer to its request by now")

// Copy returns an entry with its answer, unpacked, which PutBack stores again after a purge; false where there is none. It costs the memory of
// the answer.
func Copy(ctx context.Context, c *Cache, id policy.ID) (e *store.Entry, ok bool, err error) {
	e, ok = c.store.Get(id)
	if !ok {
		return nil, false, nil
	}
	if e, err = c.Whole(ctx, e); err != nil {
		return nil, true, err
	}
	answer, err := e.Recording()
	if err != nil {
		return nil, true, err
	}
	return &store.Entry{Key: e.Key, Scope: e.Scope, Chain: e.Chain, Labels: e.Labels, Prompt: e.Prompt, Topic: e.Topic, Parent: e.Parent, Turn: e.Turn, Answer: answer,
		AnswerHash: e.AnswerHash, InputTokens: e.InputTokens, OutputTokens: e.OutputTokens, UpstreamTime: e.UpstreamTime,
		Created: e.Created, Expires: e.Expires, StaleUntil: e.StaleUntil}, true, nil
}

// PutBack stores a Copy again as a new entry with a new id, times as they were, and no aliases. It uses up the copy. Where the embedder fails the entry
// waits for its vector like any other one. The reason is why it was not kept, as of Keep.
func PutBack(ctx context.Context, c *Cache, e *store.Entry) (id policy.ID, reason string, err error) {
	if _, alias, ok := c.store.Lookup(e.Key); ok && !alias {
		return 0, "", ErrTaken
	}
	r := &Request{Key: e.Key, Scope: e.Scope, Prompt: e.Prompt, At: c.Tick(), Epoch: c.Epoch(), MaxAge: -1, NoDetect: true}
	f := &Finding{Parent: e.Parent, Chain: e.Chain, Compared: e.Prompt != ""}
	if c.opt.comparable(r) {
		_ = guard("embed", func() error { return c.embed(ctx, r, f) }) // it may come later
		e.Vector = f.Vector
	}
	if e.Vector != nil {
		f.Route = c.route(topics.Query{Scope: topics.ScopeID(r.Scope), Chain: f.Chain, Vector: f.Vector, Hit: c.opt.gate(r)})
	}
	return c.Keep(ctx, r, f, e)
}
