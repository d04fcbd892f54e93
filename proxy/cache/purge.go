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

// purge removes the entries that match accepts, except those that keep, which is asked under the lock, wants to keep; nil keeps none.
//
// The order matters. The epoch is raised first: from then on Keep refuses the answers of earlier requests, so that nothing older than
// the purge is added behind the place that it has reached. What it removed counts as purged at its end: a request that finds an
// entry while the purge is under way reads a count of purges that will have changed by its return.
func (f *Follower) purge(match func(*store.Entry) bool, keep func(policy.ID) bool, applied bool) (matched, purged int, err error) {
	f.beginPurge(match, applied)
	return f.endPurge(match, keep, applied)
}

// beginPurge also notes the purge with the copies of what named selects, in the same step: one is either made of an entry that is still to be
// removed, or sees the purge.
func (f *Follower) beginPurge(named func(*store.Entry) bool, applied bool) {
	f.state.lock()
	defer f.state.mu.Unlock()
	f.state.epoch.Add(1)
	f.state.copies.purgedLocked(f.state.store, named, applied)
	f.state.store.Remove(policy.Purged) // announced even where nothing will match: the backing may hold entries that left before
}

func (f *Follower) endPurge(match func(*store.Entry) bool, keep func(policy.ID) bool, applied bool) (matched, purged int, err error) {
	var ids []policy.ID
	for e := range f.state.store.All() {
		if match(e) {
			ids = append(ids, e.ID)
		}
	}
	for part := range slices.Chunk(ids, partSize) {
		n, failed := f.removePart(policy.Purged, part, keep, applied)
		purged += n
		err = errors.Join(err, failed)
		runtime.Gosched() // those who wait for the lock come first
	}
	f.state.store.Remove(policy.Purged) // announced again: what the backing keeps beside the entries may have been made from some meanwhile
	f.state.purges.Add(1)
	if f.state.forms != nil {
		f.state.forms.forget()
	}
	return len(ids), purged, err
}

// removePart removes some entries. Where the policy panics the store stops half-way, so those that are left are removed one by one.
func (f *Follower) removePart(why policy.Reason, ids []policy.ID, keep func(policy.ID) bool, applied bool) (removed int, err error) {
	f.state.lock()
	f.state.applied = applied
	defer f.endApplied()
	if keep != nil {
		ids = slices.DeleteFunc(ids, func(id policy.ID) bool {
			kept := keep(id)
			if kept { // as where a removal is overridden
				f.state.store.Replica().Unalias(id)
			}
			return kept
		})
	}
	remove := func(ids ...policy.ID) {
		evs := f.state.store.Remove(why, ids...)
		removed += len(evs)
		err = errors.Join(err, f.state.settleLocked(evs, 0, nil))
	}
	remove(ids...)
	for _, id := range ids {
		if !f.state.store.Has(id) {
			continue
		}
		if remove(id); f.state.store.Has(id) {
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
