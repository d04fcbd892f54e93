package cache

import (
	"maps"

	"reprise/policy"
	"reprise/store"
)

// naive is what a log says, by the shortest rules: the last insertion of a key has it, an alias belongs to the last entry that it was made
// of, and what was removed is gone.
type naive struct {
	entries map[policy.ID]*naiveEntry
	keys    map[store.Key]policy.ID
	aliases map[store.Key]policy.ID
	anchors map[policy.TopicID]policy.ID
}

type naiveEntry struct {
	*store.Entry
	topic  policy.TopicID
	vector []float32
}

func newNaive() *naive {
	return &naive{map[policy.ID]*naiveEntry{}, map[store.Key]policy.ID{}, map[store.Key]policy.ID{}, map[policy.TopicID]policy.ID{}}
}

func (n *naive) remove(id policy.ID) {
	e := n.entries[id]
	if e == nil {
		return
	}
	delete(n.entries, id)
	delete(n.keys, e.Key)
	maps.DeleteFunc(n.aliases, func(_ store.Key, of policy.ID) bool { return of == id })
	if n.anchors[e.topic] == id {
		delete(n.anchors, e.topic)
	}
}

func (n *naive) insert(ev Event) {
	if other := n.keys[ev.Entry.Key]; other != ev.ID {
		n.remove(other)
	}
	delete(n.aliases, ev.Entry.Key)
	topic := ev.Entry.Topic
	if was := n.entries[ev.ID]; was != nil {
		topic = was.topic
		if ev.Vector == nil && n.anchors[topic] == ev.ID { // it cannot be found by meaning any more
			delete(n.anchors, topic)
		}
	}
	n.entries[ev.ID], n.keys[ev.Entry.Key] = &naiveEntry{ev.Entry, topic, ev.Vector}, ev.ID
}

func (n *naive) apply(r record) {
	_, gone := r.ev.Reason()
	switch e := n.entries[r.ev.ID]; {
	case r.purge != nil:
		for id, e := range n.entries {
			if r.purge.Matches(e.Entry) {
				n.remove(id)
			}
		}
	case gone:
		n.remove(r.ev.ID)
	case r.ev.Kind == store.EventInsert:
		n.insert(r.ev)
	case r.ev.Kind == store.EventAlias && n.keys[r.ev.Key] == 0:
		if delete(n.aliases, r.ev.Key); e != nil {
			n.aliases[r.ev.Key] = r.ev.ID
		}
	case r.ev.Kind == store.EventAnchor && e != nil && e.vector != nil:
		n.anchors[e.topic] = r.ev.ID
	}
}

// listing is a Backing that has what a log says.
type listing struct{ *naive }

func (l *listing) Load(fn func(store.Record) error) (store.Report, error) {
	for id, e := range l.entries {
		if err := store.RecordsIn(uint64(id), store.AppendRecord(nil, e.Entry, e.vector, "plane"), "plane", fn); err != nil {
			return store.Report{}, err
		}
		var body []byte
		for k, of := range l.aliases {
			if of == id {
				body = append(body, k[:]...)
			}
		}
		if err := fn(store.Record{Kind: store.KindAliases, ID: uint64(id), Body: body}); err != nil {
			return store.Report{}, err
		}
	}
	return store.Report{}, nil
}

func (l *listing) Write(*store.Batch) error { return errShelf }

func (l *listing) Close() error { return nil }
