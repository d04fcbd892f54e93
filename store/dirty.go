package store

import (
	"slices"
	"time"

	"reprise/policy"
)

// change is the part of an entry that is not yet in the backing.
type change uint8

const (
	changedNew change = 1 << iota // the whole entry
	changedState
	changedAliases
	changedVector
	changedGone // excludes the others
)

// dirtySet is the changes that the backing does not hold yet. It is filled from the events of the store. It stays bounded even if
// writes keep failing: an entry or a topic that is made and removed in between is not in it, so the set is never larger than the
// data in memory and in the backing.
type dirtySet struct {
	head    []Record // format and secret, of a backing that lacks them
	entries map[policy.ID]change
	fresh   map[policy.ID]pending   // of new entries
	vectors map[policy.ID][]float32 // that others got later
	topics  map[policy.TopicID]struct{}
	kinds   written
	purged  bool      // there was a purge, perhaps of nothing that was resident
	since   time.Time // of the oldest change; zero: there was none

	order []policy.ID // of entries, once it is taken to be written; see cutRemovals and sort
}

// pending is data of a new entry that only the dirty set holds.
type pending struct {
	vector []float32
	size   int
	stored bool // the backing holds an older answer under this id, or may hold this one
}

// written is what a store writes to its backing.
type written struct {
	topics  bool // the policy exports topics
	entries bool // not their states alone: see Options.Outside
}

// newDirtySet has room for n changes.
func newDirtySet(n int, kinds written) *dirtySet {
	return &dirtySet{entries: make(map[policy.ID]change, n), fresh: map[policy.ID]pending{}, vectors: map[policy.ID][]float32{}, topics: map[policy.TopicID]struct{}{}, kinds: kinds}
}

// newDirtySet is an empty one for the changes of c.
func (c *core) newDirtySet(n int) *dirtySet {
	return newDirtySet(n, written{topics: c.keeper.persistent != nil, entries: !c.opt.Outside})
}

func (d *dirtySet) len() int { return len(d.head) + len(d.entries) + len(d.topics) }

// read adds the changes of an event. r is the entry's resident, which a removal has just removed from the store.
func (d *dirtySet) read(ev *Event, r *resident) {
	switch ev.Kind {
	case EventInsert:
		d.insert(ev)
	case EventUse:
		d.entries[ev.ID] |= changedState
	case EventAlias:
		if d.kinds.entries {
			d.entries[ev.ID] |= changedAliases
		}
	case EventAnchor:
		d.entries[ev.ID] |= changedState
	case EventVector:
		d.setVector(ev.ID, ev.Vector)
	case EventEvict, EventExpire, EventPurge:
		d.remove(ev.ID)
	case EventArrive:
		d.topic(ev.Topic)
	}
	for _, w := range ev.Weights {
		if w.ID != 0 {
			d.entries[w.ID] |= changedState
		}
	}
	if r != nil {
		d.topic(r.Topic)
	}
}

// topic records that the policy's state of a topic may have changed.
func (d *dirtySet) topic(id policy.TopicID) {
	if id != 0 && d.kinds.topics {
		d.topics[id] = struct{}{}
	}
}

func (d *dirtySet) insert(ev *Event) {
	if !d.kinds.entries {
		d.entries[ev.ID] = changedState
		return
	}
	d.dropVector(ev.ID)
	p := pending{vector: ev.Vector, size: len(ev.Entry.Answer) + len(ev.Entry.Prompt)}
	if ev.Replaced {
		p.stored = d.entries[ev.ID]&changedNew == 0 || d.fresh[ev.ID].stored
		d.entries[ev.ID] |= changedNew | changedState
	} else {
		d.entries[ev.ID] = changedNew | changedState
	}
	d.fresh[ev.ID] = p
}

// setVector adds the vector of an entry that lacked one.
func (d *dirtySet) setVector(id policy.ID, vector []float32) {
	p, fresh := d.fresh[id]
	switch {
	case !d.kinds.entries:
	case fresh:
		p.vector = vector
		d.fresh[id] = p
	default:
		d.entries[id] |= changedVector
		d.vectors[id] = vector
	}
}

// dropVector forgets the vector of an entry that is stored again.
func (d *dirtySet) dropVector(id policy.ID) {
	if _, ok := d.vectors[id]; ok {
		delete(d.vectors, id)
		d.entries[id] &^= changedVector
	}
}

func (d *dirtySet) remove(id policy.ID) {
	if d.entries[id]&changedNew != 0 && !d.fresh[id].stored {
		delete(d.entries, id)
	} else {
		d.entries[id] = changedGone
	}
	delete(d.fresh, id)
	delete(d.vectors, id)
}

// cutRemovals removes all removals. They are written first, on their own: a purge must not fail because of answers for which the
// disk has no room.
func (d *dirtySet) cutRemovals() *dirtySet {
	gone := newDirtySet(0, d.kinds)
	gone.purged, d.purged = d.purged, false
	for id, c := range d.entries {
		if c == changedGone {
			gone.entries[id] = c
			delete(d.entries, id)
		}
	}
	gone.sort()
	return gone
}

// sort puts the changes into the order in which they are written: new entries first, because only those can be lost by a kill, then
// the rest, and the oldest first. A batch of ids in their order also changes few pages of a file; with random ones a flush took ten
// times as long.
func (d *dirtySet) sort() {
	var fresh, others []policy.ID
	for id, c := range d.entries {
		if c&changedNew != 0 {
			fresh = append(fresh, id)
		} else {
			others = append(others, id)
		}
	}
	slices.Sort(fresh)
	slices.Sort(others)
	d.order = append(fresh, others...)
}

// split removes a part for one batch of a set that is sorted.
func (d *dirtySet) split() *dirtySet {
	part, bytes := newDirtySet(0, d.kinds), 0
	part.head, d.head = d.head, nil
	part.purged = d.purged
	for len(d.order) > 0 && len(part.entries) < batchChanges && bytes <= batchBytes {
		id := d.order[0]
		d.order = d.order[1:]
		part.entries[id] = d.entries[id]
		part.order = append(part.order, id)
		delete(d.entries, id)
		if p, ok := d.fresh[id]; ok {
			part.fresh[id] = p
			bytes += p.size
			delete(d.fresh, id)
		}
		if v, ok := d.vectors[id]; ok {
			part.vectors[id] = v
			bytes += 4 * len(v)
			delete(d.vectors, id)
		}
	}
	if len(d.order) == 0 {
		part.topics, d.topics = d.topics, part.topics
		d.purged = false
	}
	return part
}

// tried is called for a part whose write failed: the backing may hold its entries all the same, as after a write that reached the file
// and was not confirmed by the disk. A removal of one of them is then written too.
func (d *dirtySet) tried() {
	for id, p := range d.fresh {
		p.stored = true
		d.fresh[id] = p
	}
}

// bytes is about what the records of the new entries take.
func (d *dirtySet) bytes() (n int) {
	const keys = 320 // with numbers, times and labels
	for _, p := range d.fresh {
		n += p.size + 4*len(p.vector) + keys
	}
	for _, v := range d.vectors {
		n += 4*len(v) + keys
	}
	return n
}

// vectorBytes is what vectors take.
func (d *dirtySet) vectorBytes() (n int) {
	for _, p := range d.fresh {
		n += 4 * len(p.vector)
	}
	for _, v := range d.vectors {
		n += 4 * len(v)
	}
	return n
}

// absorb adds changes that came later.
func (d *dirtySet) absorb(later *dirtySet) {
	d.head = append(d.head, later.head...)
	d.purged = d.purged || later.purged
	if d.since.IsZero() {
		d.since = later.since
	}
	for id, c := range later.entries {
		switch {
		case c == changedGone:
			d.remove(id)
		case c&changedNew != 0:
			p := later.fresh[id]
			if d.entries[id]&changedNew != 0 {
				p.stored = p.stored && d.fresh[id].stored
			}
			d.dropVector(id)
			d.entries[id], d.fresh[id] = d.entries[id]&^changedGone|c, p
		default:
			d.entries[id] |= c &^ changedVector
			if v, ok := later.vectors[id]; ok {
				d.setVector(id, v)
			}
		}
	}
	for id := range later.topics {
		d.topics[id] = struct{}{}
	}
}
