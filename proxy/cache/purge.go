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

// purgeSlice is how many entries a purge removes while it holds the lock: a request waits for well under a millisecond.
const purgeSlice = 64

// ErrNotRemoved is a fault of a purge: the policy panics when it is to remove an entry, which is therefore still there.
var ErrNotRemoved = errors.New("the entry could not be removed")

// Purge removes every entry that match accepts, and returns how many it accepted and how many are gone. The entries are those that were
// there when it began; it may remove later ones too. It takes the lock for a few entries at a time. Once it has returned, Serves
// refuses every entry that it removed, and no answer is kept whose request came before it began. It always runs to its end. Sync
// makes it durable.
//
// The order matters. The epoch is raised first: from then on Keep refuses the answers of earlier requests, so that nothing older than
// the purge is added behind the place that it has reached. What it removed counts as purged at its end: a request that finds an
// entry while the purge is under way reads a count of purges that will have changed by its return.
func (c *Cache) Purge(_ context.Context, match func(*store.Entry) bool) (matched, purged int, err error) {
	c.lock()
	c.epoch.Add(1)
	c.store.Remove(policy.Purged) // announced even where nothing will match: the backing may hold entries that left before
	c.mu.Unlock()
	var ids []policy.ID
	for e := range c.store.All() {
		if match(e) {
			ids = append(ids, e.ID)
		}
	}
	for part := range slices.Chunk(ids, purgeSlice) {
		n, failed := c.purgePart(part)
		purged += n
		err = errors.Join(err, failed)
		runtime.Gosched() // those who wait for the lock come first
	}
	c.store.Remove(policy.Purged) // announced again: what the backing keeps beside the entries may have been made from some meanwhile
	c.purges.Add(1)
	return len(ids), purged, err
}

// purgePart removes some entries. Where the policy panics the store stops half-way, so those that are left are removed one by one.
func (s *state) purgePart(ids []policy.ID) (purged int, err error) {
	s.lock()
	defer s.mu.Unlock()
	remove := func(ids ...policy.ID) {
		evs := s.store.Remove(policy.Purged, ids...)
		purged += len(evs)
		err = errors.Join(err, s.settleLocked(evs, 0, nil))
	}
	remove(ids...)
	for _, id := range ids {
		if !s.resident(id) {
			continue
		}
		if remove(id); s.resident(id) {
			err = errors.Join(err, &Fault{"policy", fmt.Errorf("purge entry %d: %w", id, ErrNotRemoved)})
		}
	}
	return purged, err
}

func (s *state) resident(id policy.ID) bool {
	_, ok := s.store.Get(id)
	return ok
}

// Serves reports whether h may answer a request now. The holder of a Hit asks right before the first byte of the answer: between its
// lookup and that moment a purge may have removed the entry. A hit that no purge has followed stands, even where its entry was
// evicted; after a purge its entry must still be the one that is stored.
func (c *Cache) Serves(h *Hit) bool {
	if h.purges == c.purges.Load() {
		return true
	}
	e, ok := c.store.Get(h.Entry.ID)
	return ok && e.Same(h.Entry)
}
