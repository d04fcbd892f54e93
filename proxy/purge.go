package proxy

import (
	"context"
	"errors"

	"reprise/store"
)

// Purge removes all entries that match. After its return no purged entry is served, and the answers of flights that began before
// are neither kept nor given to later requests.
func (s *Server) Purge(ctx context.Context, match func(*store.Entry) bool) (matched, purged int) {
	matched, purged, err := s.cache.Purge(ctx, match)
	s.faults.degraded(err)
	s.flights.Detach() // their answers may have been read before the removal, or be as old
	if err := s.cache.Sync(ctx); err != nil && !errors.Is(err, ctx.Err()) {
		s.faults.report(ctx, "store", err) // removed from memory; the file follows with the next write
	}
	return matched, purged
}
