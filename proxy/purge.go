package proxy

import (
	"context"
	"errors"
	"net/http"
	"time"

	"reprise/policy"
	"reprise/proxy/cache"
	"reprise/proxy/internal/apierror"
	"reprise/store"
)

// purgeWrite is how long a purge waits for the disk.
const purgeWrite = 30 * time.Second

// Purge removes all entries that f selects, here and where other processes share the store. After its return no answer of a purged entry
// begins to be written, and the answers of flights that began before are neither kept nor given to later requests. It runs to its end also when ctx ends.
//
// Where f names one entry, the answer in the other form that is kept beside it leaves too, and is not counted.
//
// An error is why the purge is not durable: the entries have left the memory, and may be back after a restart. The store keeps trying
// to write the removals; a purge that matches nothing reports whether it has succeeded. With cache.ErrNotRemoved entries are still
// there, with store.ErrUnconfirmed other processes may still have them.
func (s *Server) Purge(ctx context.Context, f store.Filter) (matched, purged int, err error) {
	ctx = context.WithoutCancel(ctx)
	beside := error(nil)
	if e, ok := s.cache.Get(f.Entry); ok && f.Matches(e) {
		if _, other, there := s.cache.KeyBar(&cache.Request{Key: e.Key.Beside()}); there {
			_, _, beside = s.cache.Purge(ctx, store.Filter{Entry: other})
			s.Purged(store.Filter{Entry: other})
		}
	}
	matched, purged, failed := s.cache.Purge(ctx, f)
	failed = errors.Join(beside, failed)
	s.faults.degraded(failed)
	s.Purged(f)
	limit, cancel := context.WithTimeout(ctx, purgeWrite)
	defer cancel()
	err = s.cache.Sync(limit)
	if errors.Is(err, store.ErrPartial) {
		err = nil // the purge is durable; the other changes have been reported as a fault of the store
	}
	if errors.Is(failed, cache.ErrNotRemoved) || errors.Is(failed, store.ErrUnconfirmed) {
		err = errors.Join(failed, err)
	}
	if err != nil {
		s.metrics.undurable.Add(1)
		s.faults.report(ctx, "purge", err)
	}
	return matched, purged, err
}

// Purged makes the server follow a purge of the cache of what f selects that it has not made itself, one of another process: what it holds
// outside the cache may be of before.
func (s *Server) Purged(f store.Filter) {
	s.observers.Forget(f)
	s.flights.Detach() // their answers may have been read before the removal, or be as old
}

// Copy copies an entry that is about to be purged, with its answer in memory, which is charged. putBack stores it again under a new id, and drop
// does not: one of them is called, once. ok is false where there is no such entry.
func (s *Server) Copy(ctx context.Context, id policy.ID) (putBack func(context.Context) (policy.ID, error), drop func(), ok bool, err error) {
	kept, ok, err := s.cache.Undo().Copy(ctx, id)
	if errors.Is(err, cache.ErrDeaf) {
		return nil, nil, ok, errNoUndo
	}
	if err != nil || !ok {
		return nil, nil, ok, err
	}
	account, size := s.budget.Account(), kept.Bytes()
	if !account.Reserve(size) {
		s.cache.Undo().Discard(kept)
		return nil, nil, true, errNoMemory
	}
	drop = func() {
		s.cache.Undo().Discard(kept)
		account.Release(size)
	}
	return func(ctx context.Context) (policy.ID, error) {
		defer drop()
		id, reason, err := s.cache.Undo().PutBack(ctx, kept)
		if id == 0 {
			return 0, s.notPutBack(reason, err)
		}
		s.faults.degraded(err)
		return id, nil // a fault of the topics costs only hits by meaning
	}, drop, true, nil
}

// errNoUndo refuses a purge that could not be taken back.
var errNoUndo = &apierror.Error{Status: http.StatusServiceUnavailable, Type: apierror.TypeCache, Code: "shared_store_away",
	Message: `Nothing was purged: the shared store does not answer, and until it does a purge cannot be taken back. Leave out "undo" to purge all the same.`}

// notPutBack is why an entry stays purged, as a client is shown it.
func (s *Server) notPutBack(reason string, err error) error {
	e := &apierror.Error{Status: http.StatusConflict, Type: apierror.TypeCache}
	switch {
	case errors.Is(err, cache.ErrTaken):
		e.Code, e.Message = "taken", "The entry is not put back: its request has had another answer since."
	case errors.Is(err, cache.ErrPurged):
		e.Code, e.Message = "purged", "The entry is not put back: another purge has named it, and that one cannot be taken back."
	case errors.Is(err, cache.ErrExpired):
		e.Code, e.Message = "expired", "The entry is not put back: it has expired since, and would answer no request."
	case errors.Is(err, cache.ErrDeaf):
		e.Status, e.Code, e.Message = http.StatusServiceUnavailable, "shared_store_away", "The entry is not put back, and stays purged: the shared store does not answer, or "+
			"did not since the purge, so that a purge at another proxy could have been missed. If the new entry "+
			"has reached the store all the same, it is removed as soon as that answers again."
	default:
		s.faults.degraded(err)
		e.Status, e.Code, e.Message = http.StatusServiceUnavailable, "not_restored", "The entry is not put back: it was not kept ("+reason+")."
	}
	return e
}
