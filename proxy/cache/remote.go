package cache

import (
	"context"

	"reprise/store"
)

// Remote is where the answers are that the store of a cache does not hold: a store that several processes share. Package shared has the
// one for Redis.
type Remote interface {
	// Fetch returns the entry of key with its answer; nil: there is none that may be served. known is what the store has under
	// the key, without its answer, nil where it has nothing: then another process may have stored one. An answer that this process has at
	// hand costs no call. An error is a fault that has been counted; there is no answer then.
	Fetch(ctx context.Context, key store.Key, known *store.Entry) (*store.Entry, error)
	// Serves reports whether e may be served at this moment: not where a purge of another process could have been missed.
	Serves(e *store.Entry) bool
	// Purge makes the other processes purge what f selects, after this one has. An error says why it is not certain that they did.
	Purge(ctx context.Context, f store.Filter) error
}
