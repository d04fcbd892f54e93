package store

import (
	"errors"
	"time"
)

// The vocabulary of a shared store: its log of changes, and what its processes report to each other.
// Package store/redis keeps such a store, proxy/cache/shared follows it.

// Mark is a moment among the purges of a shared store. An answer may be stored, and one that was fetched may be served, only under the
// mark of that moment: see Fetched.
type Mark struct {
	Log    uint64 // number of the log, drawn at random when it began: a store that was emptied has another one
	Purges uint64 // how many purges it has had; never decreases within a log
}

// Position is a place in the log: behind batch N, which the store calls ID. The zero Position is the start.
type Position struct {
	N  uint64 // batches are numbered without gaps from 1
	ID string
}

// Logged is one batch of the log: what one process appended at once, or a purge.
type Logged struct {
	Position
	Mark           // after it
	Process uint16 // that appended it
	Serial  uint64 // given by that process; increases
	Purge   *Filter
	Events  []Event // in order, nil for a purge. Entries are without answers, vectors are included
}

// Fetched is the reply of a shared store to a fetch of a key.
type Fetched struct {
	Entry   *Entry // with its answer; nil: nothing
	Written Mark   // when the entry was appended
	Now     Mark   // at the fetch. An entry that was written under an older mark may have been purged since
	Leased  bool   // there was no entry, and this process has the lease of the key now

	More []Fetched // of other keys, in their order
}

// Pulse is the state of a shared store at one beat.
type Pulse struct {
	Mark    Mark
	End     Position      // of the log
	Time    time.Time     // the clock of the store
	Keeper  uint16        // the process that decides evictions; 0: none
	Leased  time.Duration // how long that lease still runs
	Members []Member
	Full    bool // it has no memory for more: the keeper has to make room
	// Unfinished are purges whose entries may not all have left the store: a process that loads entries makes them again.
	Unfinished []Unfinished
}

// Unfinished is a purge by its place among those of a log.
type Unfinished struct {
	Purges uint64 // of the mark after it
	Filter Filter
}

// Member is a process that shares the store.
type Member struct {
	Process uint16
	Name    string
	Applied uint64        // the last batch that it had applied at its last beat
	Silent  time.Duration // since that beat
}

// Errors of a shared store.
var (
	// ErrGap: the log no longer has the batch after a position, or its history has changed: load the entries again.
	ErrGap = errors.New("the log has no batch after this position")
	// ErrFull: the server has no memory for more answers. It takes what makes room.
	ErrFull = errors.New("the server has no memory for more answers")
	// ErrSecret: the store belongs to processes with another secret.
	ErrSecret = errors.New("shared data of another secret")
	// ErrProcess: another process has the number of this one.
	ErrProcess = errors.New("another process has this number")
	// ErrRefused: the store cannot be used as it is configured: the URL or a file is wrong, or the server refuses a credential, a database, a version.
	ErrRefused = errors.New("the configuration of the shared store cannot be used")
	// ErrNoAnswer: the answer of an entry is in the shared store and was not fetched.
	ErrNoAnswer = errors.New("the answer is not in this process")
	// ErrUnconfirmed: a purge is complete in this process, and it is not certain that the others have made it.
	ErrUnconfirmed = errors.New("other processes may not have made the purge yet")
)
