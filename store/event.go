package store

import "reprise/policy"

// EventKind is the kind of a change.
type EventKind uint8

// The kinds of events. Evict, Expire and Purge are three different ends of an entry: see policy.Reason.
const (
	EventInsert EventKind = iota + 1 // an answer was stored
	EventUse                         // an entry answered a request
	EventAlias                       // another key now leads to an entry
	EventAnchor                      // an entry became the anchor of its topic
	EventEvict                       // an entry was removed to make room
	EventExpire                      // an entry was removed because its time was over
	EventPurge                       // an entry was removed on request
	EventArrive                      // a request missed on a topic
	EventVector                      // an entry that lacked a vector got one
	EventSample                      // an observation was counted; the store is not changed
)

var eventNames = [...]string{"none", "insert", "use", "alias", "anchor", "evict", "expire", "purge", "arrive", "vector", "sample"}

func (k EventKind) String() string { return eventNames[min(int(k), len(eventNames)-1)] }

// Event is one change of a cache. Every method of a Store that changes it returns the events that it caused, in order; the
// dirty set is filled from the same events, and Apply makes them happen in another store.
type Event struct {
	Kind EventKind
	ID   policy.ID   // of the entry; 0 for EventArrive and EventSample
	At   policy.Tick // of the request; zero for EventAlias, EventAnchor and the removals

	Entry    *Entry    // EventInsert: the entry as stored, without its vector. EventUse: the same, where a cache publishes it; the store leaves it nil
	Vector   []float32 // EventInsert, EventVector: of the entry; nil for one that is exact only. EventUse: of the request, where it has one
	Replaced bool      // EventInsert: the answer took the place of an older one, under the id of that one
	Refused  bool      // EventInsert: the policy evicted the entry at once; its EventEvict follows
	Applied  bool      // it happened in another process first, and was read from its log
	Back     bool      // EventInsert: the entry was purged, and this process puts it back

	Parent policy.ID // EventUse: the entry that this one depends on, 0 where none was found
	// Searched and Detected are the result of a search by similarity for the parent of an EventUse (paper 002, DETECTPARENT).
	Searched bool
	Detected policy.ID

	Key   Key            // EventAlias: the new key. Removals: the key of the entry
	Basis uint64         // EventAlias: of Store.Alias
	Topic policy.TopicID // EventArrive
	// Sample is the observation of an EventSample. Only the cache reads it.
	Sample []byte

	// Weights are the importances of the entry and of its parent, which EventInsert and EventUse have changed. An ID of 0 is an unused place.
	Weights [2]Weight
}

// Weight is the structural importance of an entry (TSI in paper 002 §3.3) after a change.
type Weight struct {
	ID         policy.ID
	Importance float64
}

// removal returns the kind of event of a removal for a reason.
func removal(why policy.Reason) EventKind {
	switch why {
	case policy.Evicted:
		return EventEvict
	case policy.Expired:
		return EventExpire
	}
	return EventPurge
}

// Reason is why the entry of a removal left; any other event is no removal.
func (ev *Event) Reason() (why policy.Reason, removed bool) {
	switch ev.Kind {
	case EventEvict:
		return policy.Evicted, true
	case EventExpire:
		return policy.Expired, true
	case EventPurge:
		return policy.Purged, true
	}
	return 0, false
}
