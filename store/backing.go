package store

import "errors"

// Errors of a Backing and of Open.
var (
	// ErrSpace: the data holds vectors of another embedder.
	ErrSpace = errors.New("data of another embedder space")
	// ErrVersion: the data was written by a newer version of this program.
	ErrVersion = errors.New("data of a newer version")
	// ErrLocked: another process has the data open.
	ErrLocked = errors.New("data in use by another process")
	// ErrReadOnly: the data can be read and not written.
	ErrReadOnly = errors.New("data cannot be written")
	// ErrDamaged: something that was read is not what was once written.
	ErrDamaged = errors.New("damaged data")
)

// Kind says what a Record is about.
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
	KindLearned // id 0: what the policy has learned of no entry; only the policy can read it
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

// Record is one thing to keep, named by kind and id. Its body is the store's own affair.
type Record struct {
	Kind Kind
	ID   uint64
	Body []byte
}

// Batch is a set of changes that are made durable together or not at all. No record is named twice in one batch.
type Batch struct {
	Put    []Record
	Delete []Record // without bodies; one that is not there is no error
}

// Report is what a Load found.
type Report struct {
	Name     string // of the data, for messages: a path
	Kept     int    // records that were read
	Skipped  int    // damaged ones, left out
	Aside    string // where a file whose structure is damaged was moved; the store starts empty
	ReadOnly error  // why nothing can be written; nil where it can
}

// Backing keeps records durably. A Store calls it from one goroutine at a time: Load once, then Write, then Close.
type Backing interface {
	// Load hands every intact record to fn, in any order; the body is valid during the call only. Damaged records are
	// left out and counted. An error of fn ends it and is returned.
	Load(fn func(Record) error) (Report, error)
	// Write makes a batch durable, all or nothing. After an error it may be called again.
	Write(b *Batch) error
	Close() error
}
