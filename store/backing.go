package store

import (
	"errors"
	"iter"
)

// Errors of a Backing and of Open.
var (
	// ErrVersion: the data was written by a newer version of this program.
	ErrVersion = errors.New("data of a newer version")
	// ErrLocked: another process has the data open.
	ErrLocked = errors.New("data in use by another process")
	// ErrReadOnly: the data can be read, but not written.
	ErrReadOnly = errors.New("data cannot be written")
	// ErrDamaged: data that was read differs from the data written.
	ErrDamaged = errors.New("damaged data")
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("store is closed")
	// ErrPurged: a purge came while data was written that may hold what was purged.
	ErrPurged = errors.New("a purge came meanwhile")
	// ErrPartial: every removal is durable, and other changes are not.
	ErrPartial = errors.New("removals are written, other changes are not")
)

// Kind is the kind of a Record.
type Kind uint8

// The kinds of records. Those of an entry share its id.
const (
	KindFormat   Kind = 1 + iota // id 0: the vector space
	KindSecret                   // id 0
	KindCounters                 // id 0
	KindEntry
	KindVector
	KindAliases
	KindState // of an entry
	KindTopic
	KindLearned  // id 0: learned state of the policy beyond the entries; only the policy can read it
	KindEvidence // id 0: what was counted of reused answers; only the caller of KeepEvidence can read it
	kindEnd
)

// Kinds is all of them, in the order of their numbers.
func Kinds() []Kind {
	var all []Kind
	for k := KindFormat; k < kindEnd; k++ {
		all = append(all, k)
	}
	return all
}

// Record is one unit of data, named by kind and id. Only the store reads its body.
type Record struct {
	Kind Kind
	ID   uint64
	Body []byte
}

// Batch is a set of changes that are made durable together or not at all. No record is named twice in one batch. Its memory is valid
// during the call of Write only.
type Batch struct {
	Put    []Record
	Delete []Record // without bodies; a record that does not exist is not an error
	// Evicted are entries that left to make room, or because their time was over: no record of them is loaded any more. The backing may
	// delete the records later, and does so soon after a batch with Purged.
	Evicted []uint64

	// Purged is set where a purge caused deletions of this batch, or was to cause some and found nothing: what the backing still has
	// of deleted records is to be made unreadable soon. Such a batch has no Put.
	Purged bool
}

// Deletions are the records of Delete, and all those of the entries in Evicted: for a backing that deletes them at once.
func (b *Batch) Deletions() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for _, r := range b.Delete {
			if !yield(r) {
				return
			}
		}
		for _, id := range b.Evicted {
			for _, r := range RecordsOf(id) {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// RecordsOf are the names of all records of an entry.
func RecordsOf(id uint64) []Record {
	return []Record{{Kind: KindEntry, ID: id}, {Kind: KindVector, ID: id}, {Kind: KindAliases, ID: id}, {Kind: KindState, ID: id}}
}

// Report is the result of a Load.
type Report struct {
	Name     string // of the data, for messages: a path
	Kept     int    // records that were read
	Skipped  int    // damaged records
	Aside    string // where a file whose structure is damaged was moved; the store starts empty
	ReadOnly error  // why nothing can be written; nil where it can
}

// Backing keeps records durably. A Store calls it from one goroutine at a time: Load once, then Write, then Close.
type Backing interface {
	// Load calls fn with every intact record, in any order, but that of KindFormat first where Options.Former is to be asked; the body is
	// valid during the call only. Damaged records are skipped and counted. An error of fn ends it and is returned.
	Load(fn func(Record) error) (Report, error)
	// Write makes a batch durable, all or nothing. After an error it may be called again.
	Write(b *Batch) error
	Close() error
}

// Tidier is a Backing in which deleted records leave something behind: bytes that can still be read, or space. A Store calls it from
// the goroutine that writes, between batches.
type Tidier interface {
	// Tidy does one step of some milliseconds, and reports whether there is more to do. What a batch with Purged has deleted is
	// unreadable within a minute of calls. An error is a fault; the step is tried again by a later call.
	Tidy() (more bool, err error)
	// Space is how many bytes the backing takes, and how many of them hold no record. It may be called at any time.
	Space() (total, dead int64)
}
