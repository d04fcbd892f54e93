// Package policy decides which entries stay in a cache.
//
// Everything here is a pure state machine: no lock, clock, goroutine or I/O. Sequence number and time come in with each
// call, so that the proxy and a simulation run the same code and name the same victims. The owner of an evictor (package
// store in the proxy) serialises the calls.
//
// The contract is Evictor; a policy may implement Arriver, Expirer, Forecaster, Linker, Replacer, Persistent or Panel too. An
// entry leaves for one of three reasons (evicted, expired, purged), and a new answer may replace one in its place. A Ledger
// keeps an evictor within a limit and counts what is resident: only the ledger calls Insert and Remove.
//
// The policies are in packages of their own: classic, rac, haz, and panel, which is made of others. A Spec describes one: its name, its
// parameters and its constructor. Package registry lists those that serve, and documents how to add one. Their data structures are in
// internal/container.
package policy

import (
	"fmt"

	"reprise/internal/container"
)

// ID names one cached entry; 0 is none. An ID is never used twice: an answer that returns after its eviction is a new entry,
// so an ID held elsewhere (a parent link, a topic's member list) is either resident or gone for good.
type ID uint64

// TopicID names one topic. 0 is no topic.
type TopicID uint64

// Item describes one entry, a response or a KV block alike. Fields that a policy does not use may be left zero.
type Item struct {
	ID       ID
	Key      uint64 // identity that outlives an eviction: the same answer has it again when it returns; 0 is none
	Topic    TopicID
	Parent   ID      // the entry that this one depends on; 0 is none
	Category uint32  // type and turn of the request, from CategoryOf (papers/001 §4.2); 0 is the first turn of type 0
	Size     int64   // bytes; of a KV block: tokens
	Cost     float64 // what an answer costs to make again, e.g. tokens; 0 means 1
	Offset   int     // position of a block in its prefix, or turn of a conversation
	Prob     float64 // predicted probability that the conversation goes on (LPC)
}

// MostTurns is the last turn of a conversation that has a category of its own.
const MostTurns = 8

// CategoryOf is the Category of a request of a type, which are numbered from 0, at a turn of its conversation, from 1.
func CategoryOf(kind uint16, turn int) uint32 {
	return MostTurns*uint32(kind) + uint32(min(max(turn, 1), MostTurns)-1)
}

// Tick is the two clocks, passed with each call.
type Tick struct {
	Seq int64   // number of the request, in order of arrival, from 1
	At  float64 // seconds, from any fixed start
}

// Identity is the name under which a policy keeps an item that it has evicted: Key, or ID where there is none.
func (it Item) Identity() uint64 {
	if it.Key != 0 {
		return it.Key
	}
	return uint64(it.ID)
}

// KeyOf is the Key of the answer that id names in a scope: id alone where there is none. The proxy and a replay of its
// log both use it, because the decisions of policies that hash identities depend on collisions.
func KeyOf(id, scope uint64) uint64 {
	if scope == 0 {
		return id
	}
	return container.Mix(id ^ container.Mix(scope))
}

// Reason is why an entry leaves the cache.
type Reason uint8

const (
	// Evicted: removed to make room. A policy may keep the identity as a ghost, and learn from its return.
	Evicted Reason = iota
	// Expired: its time is over. The policy keeps its state of the identity, so that an item of the same Key inserted later
	// continues with it. An expiry is no evidence about the choice of victims.
	Expired
	// Purged: removed on request. All its state is dropped, ghosts too. Counts in a sketch, which belong to no single identity,
	// are halved with all others.
	Purged
)

var reasons = [...]string{"evicted", "expired", "purged"}

// String is the name of the reason.
func (r Reason) String() string {
	if int(r) < len(reasons) {
		return reasons[r]
	}
	return fmt.Sprintf("reason %d", uint8(r))
}

// Evictor names the next victim. Insert of a resident ID and Hit or Remove of an unknown one are errors of the caller and
// are ignored.
//
// Insert is called before room is made. Policies that never refuse an item (all except RAC's and those that filter) stage the
// new item until the next Insert or Hit and choose among the others; their victims are then the same as when room is made
// first.
type Evictor interface {
	// Insert makes it resident. The new item may be the next victim: that is how a policy refuses it.
	Insert(it Item, at Tick)
	// Hit counts a request that id answered.
	Hit(id ID, at Tick)
	// Remove drops id. An Evicted entry is usually the last Victim, but may be any resident.
	Remove(id ID, why Reason)
	// Victim is the entry to remove next; false when nothing is resident. It may change queues or draw a number, so callers
	// call it only to remove the victim next. Two calls in a row return the same entry.
	Victim() (ID, bool)
}

// Replacer is an Evictor whose state depends on the size or the cost of an item, or on when its life began.
type Replacer interface {
	// Replace replaces the answer of the resident it.ID. ID and Key stay, and with them importance, frequency,
	// links and topic; size and cost are those of it. The replacement counts as one access, as Hit does.
	Replace(it Item, at Tick)
}

// Arriver is an Evictor that counts a miss when it arrives, before there is an answer, or without one.
type Arriver interface {
	Arrive(topic TopicID, at Tick)
}

// Expirer is an Evictor whose entries expire. The caller that finds an entry calls Expired, and Remove instead of Hit for an
// expired one.
type Expirer interface {
	// Expired reports whether id, a resident, must not answer a request at that time.
	Expired(id ID, at Tick) bool
}

// Linker is an Evictor that follows dependencies between entries.
type Linker interface {
	// Link records that child depends on parent, once: a child that has a resident parent keeps it. It reports whether the
	// link was made. At a hit, Link may be called before Hit or after it: the sums are the same.
	Link(child, parent ID) bool
	// Importance is the structural importance of id (TSI in paper 002 §3.3), 0 for an unknown one.
	Importance(id ID) float64
}

// EntryState is the state of one entry in a policy, in a form that a store can keep.
type EntryState struct {
	ID         ID
	Parent     ID
	Freq, Dep  float64
	Born, Last int64 // Seq
}

// TopicState is the state of one topic in a policy.
type TopicState struct {
	ID   TopicID
	LogW float64 // log2 of the prevalence at Last
	Last int64   // Seq
}

// Persistent is an Evictor whose state survives a restart. Restoring is: Insert every item in the order of its Last,
// then Import the states, entries and topics in any order.
//
// The exports change nothing, and several may run at the same time, as all methods of the other interfaces that only return
// something: the owner of an evictor makes these calls under a lock for readers.
type Persistent interface {
	ExportEntry(id ID) (EntryState, bool)
	ExportTopic(id TopicID) (TopicState, bool)
	ImportEntry(s EntryState)
	ImportTopic(s TopicState)
}
