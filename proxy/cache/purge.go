package cache

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"reprise/policy"
	"reprise/store"
)

// A purge removes entries from every memory of a cache that can hold a text of them. This file is the only place that does it, in three
// steps. The uses that wait are applied before each.
//
//	begin    epoch + 1                from now on Keep refuses the answers to earlier requests, so that nothing older than the
//	                                  purge is added behind the place that it has reached
//	         undo                     notes the purge with the copies of the selected entries, and drops those that another one named
//	         store                    announces it to the backing, which may still have the bytes of entries that left before
//	remove   store, 64 at a time      entries, their keys, aliases and refusals, in memory, in the policy and in the backing
//	         topics                   their vectors and anchors
//	         log and readers          an event for each
//	end      store                    announces it again: what was evicted meanwhile is only marked in the backing
//	         forms                    drops the forms of stored prompts that it keeps
//	         templates                drops the frames of all scopes without another entry, whoever emptied them
//	         purges + 1               from now on Serves refuses hits on them that were found before
//
// What else the cache remembers has no text. Aliases leave with their entry; recent answers, wrong pairs and origins are digests of keys, and
// stay, so that a wrong answer which comes back is still refused; evidence is counts.

// partSize is how many entries are removed or added in one go while the lock is held: a request waits for well under a millisecond.
const partSize = 64

// ErrNotRemoved is a fault of a purge: the policy panics when it is to remove an entry, which is therefore still there.
var ErrNotRemoved = errors.New("the entry could not be removed")

// Purge removes every entry that f selects, here and then in the processes that share the store, and returns how many it found here and
// how many of these are gone. The entries are those that were there when it began; it may remove later ones too. It takes the lock for a
// few entries at a time. Once it has returned, Serves refuses every entry that it removed, and no answer is kept whose request came
// before it began. It always runs to its end. Sync makes it durable. An error may wrap ErrNotRemoved and store.ErrUnconfirmed.
func (c *Cache) Purge(ctx context.Context, f store.Filter) (matched, purged int, err error) {
	matched, purged, err = c.follower.purge(f.Matches, nil, false)
	if c.opt.Remote == nil {
		return matched, purged, err
	}
	if failed := c.opt.Remote.Purge(ctx, f); failed != nil {
		err = errors.Join(err, fmt.Errorf("%w: %w", store.ErrUnconfirmed, failed))
	}
	return matched, purged, err
}

// purge removes the entries that match accepts, except those that keep accepts, which is called under the lock; nil keeps none. applied says
// that the purge was read from a log.
func (f *Follower) purge(match func(*store.Entry) bool, keep func(policy.ID) bool, applied bool) (matched, purged int, err error) {
	f.beginPurge(match, applied)
	return f.endPurge(match, keep, applied)
}

// beginPurge notes the purge with the copies of what named selects, in the same step: a copy is made of an entry that is still to be removed,
// or it sees the purge.
func (f *Follower) beginPurge(named func(*store.Entry) bool, applied bool) {
	s := f.state
	s.lock()
	defer s.mu.Unlock()
	s.epoch.Add(1)
	s.copies.purgedLocked(s.store, named, applied)
	s.store.Remove(policy.Purged)
}

func (f *Follower) endPurge(match func(*store.Entry) bool, keep func(policy.ID) bool, applied bool) (matched, purged int, err error) {
	s := f.state
	var ids []policy.ID
	left := map[store.Scope]struct{}{}
	for e := range s.store.All() {
		if match(e) {
			ids = append(ids, e.ID)
		} else {
			left[s.templates.base(e.Scope)] = struct{}{}
		}
	}
	for part := range slices.Chunk(ids, partSize) {
		n, failed := f.removePart(policy.Purged, part, keep, applied)
		purged += n
		err = errors.Join(err, failed)
		runtime.Gosched() // those who wait for the lock come first
	}
	s.store.Remove(policy.Purged)
	s.purges.Add(1)
	s.templates.forget(left)
	if s.forms != nil {
		s.forms.forget()
	}
	return len(ids), purged, err
}

// removePart removes some entries. Where the policy panics the store stops half-way, so those that are left are removed one by one.
func (f *Follower) removePart(why policy.Reason, ids []policy.ID, keep func(policy.ID) bool, applied bool) (removed int, err error) {
	s := f.state
	s.lock()
	s.applied = applied
	defer f.endApplied()
	if keep != nil {
		ids = slices.DeleteFunc(ids, func(id policy.ID) bool {
			kept := keep(id)
			if kept { // as where a removal is overridden
				s.store.Unalias(id)
			}
			return kept
		})
	}
	remove := func(ids ...policy.ID) {
		evs := s.store.Remove(why, ids...)
		removed += len(evs)
		err = errors.Join(err, s.settleLocked(evs, 0, nil))
	}
	remove(ids...)
	for _, id := range ids {
		if !s.store.Has(id) {
			continue
		}
		if remove(id); s.store.Has(id) {
			err = errors.Join(err, &Fault{"policy", fmt.Errorf("remove entry %d: %w", id, ErrNotRemoved)})
		}
	}
	return removed, err
}

// Serves reports whether h may answer a request now. The holder of a Hit asks right before the first byte of the answer: between its
// lookup and that moment a purge may have removed the entry. A hit that no purge has followed stands, even where its entry was
// evicted; after a purge its entry must still be the one that is stored. Where processes share the store, Remote.Serves must agree.
func (c *Cache) Serves(h *Hit) bool {
	if c.opt.Remote != nil && !c.opt.Remote.Serves(h.Entry) {
		return false
	}
	if h.purges == c.state.purges.Load() {
		return true
	}
	e, ok := c.state.store.Get(h.Entry.ID)
	return ok && e.Same(h.Entry)
}
