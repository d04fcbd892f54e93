package shared

import (
	"context"
	"time"

	"reprise/store"
)

// Link is a shared store, by what is used of it: store/redis has one type for all of these.
type Link struct {
	Log     Log
	Group   Group
	Answers Answers
	Leases  Leases
	Records store.Backing // the entries without their answers, as they are at the end of the log
}

// Log is the order of all changes.
type Log interface {
	// Append adds events as one batch, and changes the answers and records that they name. The mark must be that of the store. Otherwise
	// nothing is appended, and the error is store.ErrPurged, or store.ErrGap where the store has another log or fewer purges. A serial that
	// is not above all that this process has used is a batch that was appended before: it changes nothing and is no error.
	Append(ctx context.Context, m store.Mark, serial uint64, evs []store.Event) (store.Position, error)
	// Purge adds a purge as a batch, whatever the mark is, and returns the mark after it. Serials are those of Append. It is unfinished then:
	// see store.Pulse.
	Purge(ctx context.Context, serial uint64, f store.Filter) (store.Mark, error)
	// Finish notes that what some purges name has left the store. Each is known by the mark after it.
	Finish(ctx context.Context, purges ...store.Mark) error
	// Read returns what follows a position, after some time nothing. store.ErrGap: what is there does not follow that position.
	Read(ctx context.Context, after store.Position, wait time.Duration) ([]store.Logged, error)
	// TrimLog removes the batches before a position.
	TrimLog(ctx context.Context, before store.Position) error
}

// Group is what the members agree on.
type Group interface {
	// Agree takes the secret from the store, and a process number that no other member has: the present one where that is free.
	Agree(ctx context.Context) error
	Process() uint16
	Secret() [32]byte
	// Beat reports what this member has applied and returns the state of the store. With keep it asks to be the keeper, or to stay it. Where
	// the store has no log it begins one. store.ErrProcess and store.ErrSecret: Agree is needed again.
	Beat(ctx context.Context, applied store.Position, keep bool) (store.Pulse, error)
}

// Answers are the answers.
type Answers interface {
	// Fetch returns what is stored under a key, and under more keys, and the mark of that moment.
	Fetch(ctx context.Context, k store.Key, more ...store.Key) (store.Fetched, error)
	// FetchOrLease is Fetch and, where nothing is stored, Leases.Lease.
	FetchOrLease(ctx context.Context, k store.Key, ttl time.Duration) (store.Fetched, error)
}

// Leases are those of flights.
type Leases interface {
	Lease(ctx context.Context, k store.Key, ttl time.Duration) (mine bool, err error)
	Renew(ctx context.Context, ttl time.Duration, keys ...store.Key) error
	Release(ctx context.Context, keys ...store.Key) error
}
