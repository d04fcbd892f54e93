package proxy

import (
	"context"
	"errors"

	"reprise/policy"
	"reprise/store"
)

// Purge removes all entries that match. Once it has returned, no purged entry is served, and no answer that was under way
// meanwhile is kept, or given to a request that comes later.
func (s *Server) Purge(ctx context.Context, match func(*store.Entry) bool) (matched, purged int) {
	matched, purged = s.drop(match)
	if err := s.store.Sync(ctx); err != nil && !errors.Is(err, ctx.Err()) {
		s.fault(ctx, "store", err) // gone from memory; the file follows with the next write
	}
	return matched, purged
}

func (s *Server) drop(match func(*store.Entry) bool) (matched, purged int) {
	s.purge.Lock()
	defer s.purge.Unlock()
	s.epoch.Add(1)
	var ids []policy.ID
	for e := range s.store.All() {
		if match(e) {
			ids = append(ids, e.ID)
		}
	}
	removed := s.store.Remove(ids...)
	s.forget(removed)
	s.flights.Detach() // their answers may have been read before the removal, or be as old
	return len(ids), len(removed)
}
