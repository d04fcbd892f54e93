package proxy

import (
	"context"
	"errors"

	"reprise/store"
)

// Purge removes all entries that match. Once it has returned, no purged entry is served, and no answer that was under way
// meanwhile is kept, or given to a request that comes later.
func (s *Server) Purge(ctx context.Context, match func(*store.Entry) bool) (matched, purged int) {
	matched, purged, err := s.cache.Purge(ctx, match)
	s.flights.Detach() // their answers may have been read before the removal, or be as old
	if err != nil && !errors.Is(err, ctx.Err()) {
		s.fault(ctx, "store", err) // gone from memory; the file follows with the next write
	}
	return matched, purged
}
