package cache

import (
	"context"

	"reprise/policy"
	"reprise/store"
)

// Remote is where the answers are that the store of a cache does not hold: a store that several processes share. Package shared has the
// one for Redis.
type Remote interface {
	// Fetch returns the entry of key with its answer; nil: the shared store has none, and known, which the cache then removes, is left
	// over. known is what the store has under the key, without its answer, nil where it has nothing: then another process may have stored
	// one. An answer that this process has at hand costs no call. An error says that nothing may be served now, whatever is stored: the
	// store cannot be reached, or a purge may have been missed. It has been counted where it is a fault. next is called where the store is
	// asked for known: the answers of what it returns are fetched by the same call, and are at hand afterwards. nil: there are none.
	Fetch(ctx context.Context, key store.Key, known *store.Entry, next func() []*store.Entry) (*store.Entry, error)
	// Serves reports whether e may be served at this moment: not where a purge of another process could have been missed.
	Serves(e *store.Entry) bool
	// Purge makes the other processes purge what f selects, after this one has. An error says why it is not certain that they did.
	Purge(ctx context.Context, f store.Filter) error
	// Follows reports whether the purges of other processes are followed now, as Serves does, and how often they were not until then. Where that
	// number stays, none has been missed between two calls.
	Follows() (breaks uint64, now bool)
	// Appended waits until the insertion of an entry that was put back is in the log, or was dropped. An error says that this is not certain.
	Appended(ctx context.Context, id policy.ID) error
}
