package cache

import (
	"context"
	"errors"
	"slices"

	"reprise/policy"
	"reprise/store"
	"reprise/topics"
	"reprise/topics/reuse/evidence"
)

// Errors of PutBack.
var (
	// ErrTaken: another answer has taken the place of one that was to be put back.
	ErrTaken = errors.New("there is another answer to its request by now")
	// ErrPurged: another purge than the one that is to be taken back has named the entry, or was under way.
	ErrPurged = errors.New("it was purged again")
	// ErrExpired: its time is over, so that it would answer nothing.
	ErrExpired = errors.New("it has expired meanwhile")
	// ErrDeaf: a purge of another process that shares the store may have named the entry, and was not read.
	ErrDeaf = errors.New("the shared store does not answer, or did not meanwhile")
)

// Undo puts entries back that were purged.
type Undo struct{ c *Cache }

// Undo returns the part of c that puts entries back.
func (c *Cache) Undo() Undo { return Undo{c} }

// Copied is a copy of an entry, with its answer, that is about to be purged. It is used up by PutBack or by Discard. All of it is guarded by the
// lock of the cache.
type Copied struct {
	of     *store.Entry // by which a purge is matched
	entry  *store.Entry // nil: it is not read yet, or void
	bytes  int64
	purges int    // of this process that have named it
	void   bool   // it may not be put back any more
	breaks uint64 // of Remote.Follows when it was begun

	refused []store.Key // of requests that a verdict keeps it from
}

// Bytes is the memory of the texts. It is called before the copy is used up.
func (c *Copied) Bytes() int64 { return c.bytes }

func (c *Copied) dropLocked() { c.entry, c.void = nil, true }

// copies are those that are not used up. The first purge of this process that names one is that which may be taken back; with any other one the
// copy is void, and its texts leave the memory.
type copies map[*Copied]struct{}

// purgedLocked notes a purge of what named selects, which applied says is of another process.
func (c copies) purgedLocked(in *store.Store, named func(*store.Entry) bool, applied bool) {
	for one := range c {
		if !named(one.of) {
			continue
		}
		if keys := in.Refusals(one.of.ID); keys != nil { // the last moment at which they are there
			one.refused = keys
		}
		if one.purges++; applied || one.purges > 1 {
			one.dropLocked()
		}
	}
}

// refusedLocked notes a verdict that keeps an entry from a key.
func (c copies) refusedLocked(k store.Key, id policy.ID) {
	for one := range c {
		if one.of.ID == id && !slices.Contains(one.refused, k) {
			one.refused = append(one.refused, k)
		}
	}
}

// missedLocked notes that a purge of another process may have been missed.
func (c copies) missedLocked() {
	for one := range c {
		one.dropLocked()
	}
}

// Copy returns an entry with its answer, unpacked, which PutBack stores again after a purge; false where there is none. It costs the memory of
// the answer. It fails with ErrDeaf where PutBack would.
func (u Undo) Copy(ctx context.Context, id policy.ID) (kept *Copied, ok bool, err error) {
	c := u.c
	breaks, now := u.follows() // first: what is missed from now on is missed by the copy
	if kept, ok = u.begin(id, breaks); !ok {
		return nil, false, nil
	}
	if !now {
		u.Discard(kept)
		return nil, true, ErrDeaf
	}
	e, err := u.unpacked(ctx, kept.of)
	if err != nil {
		u.Discard(kept)
		return nil, true, err
	}
	c.state.lock()
	defer c.state.mu.Unlock()
	if kept.void {
		return kept, true, nil
	}
	kept.entry, kept.bytes = e, int64(len(e.Answer)+len(e.Prompt))
	return kept, true, nil
}

// begin begins a copy before the answer is read: a purge from now on finds it. One that is under way may still remove the entry, and counts.
func (u Undo) begin(id policy.ID, breaks uint64) (kept *Copied, ok bool) {
	c := u.c
	c.state.lock()
	defer c.state.mu.Unlock()
	e, ok := c.state.store.Get(id)
	if !ok {
		return nil, false
	}
	kept = &Copied{of: e, breaks: breaks}
	if c.state.epoch.Load() != c.state.purges.Load() {
		kept.purges = 1
	}
	if c.state.copies == nil {
		c.state.copies = copies{}
	}
	c.state.copies[kept] = struct{}{}
	return kept, true
}

func (u Undo) unpacked(ctx context.Context, e *store.Entry) (*store.Entry, error) {
	e, err := u.c.Whole(ctx, e)
	if err != nil {
		return nil, err
	}
	answer, err := e.Recording()
	if err != nil {
		return nil, err
	}
	return &store.Entry{Key: e.Key, Scope: e.Scope, Chain: e.Chain, Labels: e.Labels, Prompt: e.Prompt, Topic: e.Topic, Parent: e.Parent, Turn: e.Turn, Answer: answer,
		AnswerHash: e.AnswerHash, InputTokens: e.InputTokens, OutputTokens: e.OutputTokens, UpstreamTime: e.UpstreamTime,
		Created: e.Created, Expires: e.Expires, StaleUntil: e.StaleUntil}, nil
}

// Discard forgets a copy. A second call does nothing.
func (u Undo) Discard(kept *Copied) {
	u.c.state.lock()
	defer u.c.state.mu.Unlock()
	delete(u.c.state.copies, kept)
	kept.dropLocked()
}

// follows is Remote.Follows, and always true where there is none.
func (u Undo) follows() (breaks uint64, now bool) {
	if u.c.opt.Remote == nil {
		return 0, true
	}
	return u.c.opt.Remote.Follows()
}

// PutBack stores a copy again as a new entry with a new id, times as they were, and no aliases but those by which a verdict
// keeps it from a request. It uses up the copy. Where the embedder fails the entry
// waits for its vector like any other one. The reason is why it was not kept, as of Keep.
//
// Any purge since the copy was begun that names the entry wins. One that this process has applied has made the copy void. Of another process one
// may be in the log, and not read here: the log takes the new entry only behind the purges that were applied here, so PutBack returns when
// the log has it, and an entry that the log does not take is removed. Between, the purge is read and removes the new entry: see ApplyPurge.
// While it is on its way it is served like what others have stored, not like an own answer that none of them has seen.
func (u Undo) PutBack(ctx context.Context, kept *Copied) (id policy.ID, reason string, err error) {
	c := u.c
	defer u.Discard(kept)
	for {
		e, epoch := c.state.ofCopy(kept)
		if e == nil {
			return 0, ReasonPurged, ErrPurged
		}
		if breaks, now := u.follows(); !now || breaks != kept.breaks {
			return 0, ReasonPurged, ErrDeaf
		}
		u.carry(kept.of, u.refusals(kept))
		if id, reason, err = u.keep(ctx, e, epoch, kept.of.ID); reason == ReasonPurged {
			continue // a purge has come meanwhile, which may be one of other entries
		}
		if id == 0 {
			return 0, reason, err
		}
		for _, k := range u.refusals(kept) { // those of this moment: a verdict that comes later finds the new id
			err = errors.Join(err, c.state.refuse(k, id))
		}
		if c.opt.Remote == nil {
			return id, "", err
		}
		if failed := u.inLog(ctx, id); failed != nil {
			return 0, ReasonPurged, failed
		}
		return id, "", err
	}
}

// carry keeps a copy from the requests that it must not answer, before it is back: the aliases that say so in the store have left with the entry,
// and can be made again only then.
func (u Undo) carry(of *store.Entry, refused []store.Key) {
	for _, k := range refused {
		u.c.verdicts.wrong.add(evidence.ID(of.Tenant), k, of.Key)
	}
}

func (u Undo) refusals(kept *Copied) []store.Key {
	u.c.state.lock()
	defer u.c.state.mu.Unlock()
	return slices.Clone(kept.refused)
}

// inLog waits until the log of the shared store has the insertion of an entry, and removes the entry where that is not certain.
func (u Undo) inLog(ctx context.Context, id policy.ID) error {
	c := u.c
	failed := c.opt.Remote.Appended(ctx, id)
	e, there := c.state.store.Get(id)
	switch {
	case failed != nil && there:
		return errors.Join(ErrDeaf, failed, c.state.remove(policy.Purged, e))
	case !there:
		return ErrPurged
	}
	return nil
}

// ofCopy is what a copy has, nil where it is void, and the epoch in which that is true.
func (s *state) ofCopy(kept *Copied) (e *store.Entry, epoch uint64) {
	s.lock()
	defer s.mu.Unlock()
	return kept.entry, s.epoch.Load()
}

// keep stores e as the answer to a request that was made for it.
func (u Undo) keep(ctx context.Context, e *store.Entry, epoch uint64, was policy.ID) (id policy.ID, reason string, err error) {
	c := u.c
	if _, alias, ok := c.state.store.Lookup(e.Key); ok && !alias {
		return 0, "", ErrTaken
	}
	if !e.Fresh(c.opt.Now()) {
		return 0, "", ErrExpired
	}
	r := &Request{Key: e.Key, Scope: e.Scope, Prompt: e.Prompt, At: c.Tick(), Epoch: epoch, MaxAge: -1, NoDetect: true, back: was}
	f := &Finding{Parent: e.Parent, Chain: e.Chain, Compared: e.Prompt != ""}
	if c.opt.comparable(r) {
		placed := c.state.templates.asks(e)
		placed.scope, placed.chain = e.Scope, e.Chain
		f.asked = &placed
		_ = guard("embed", func() error { return c.embed(ctx, r, f) }) // it may come later
		e.Vector = f.Vector
	}
	if e.Vector != nil {
		f.Route = c.state.route(topics.Query{Scope: topics.ScopeID(r.Scope), Chain: f.Chain, Vector: f.Vector, Hit: c.opt.gate(r)})
	}
	return c.Keep(ctx, r, f, e)
}
