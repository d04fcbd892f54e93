package store

import (
	"maps"
	"slices"
	"time"

	"reprise/policy"
)

// change names the parts of an entry that the backing lacks.
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
	entries map[policy.ID]pending
	topics  map[policy.TopicID]struct{}
	whole   bool      // entries are written, not their states alone: see Options.Outside
	policy  bool      // the policy exports topics
	purged  bool      // there was a purge, perhaps of nothing that was resident
	since   time.Time // of the oldest change; zero: there was none

	order []policy.ID // of entries, once the set is taken to be written; see cutRemovals and sort
}

// pending is the part of an entry that is not written.
type pending struct {
	change change
	stored bool      // the backing holds an older answer under this id, or may hold this one
	size   int32     // bytes of the answer and the prompt of a new entry
	vector []float32 // of a new entry, or of an entry that got it later: only the dirty set holds it
}

// bytes estimates the size of the records of a new entry or of its vector.
func (p *pending) bytes() int {
	const keys = 320 // with numbers, times and labels
	if p.change&(changedNew|changedVector) == 0 {
		return 0
	}
	return int(p.size) + 4*len(p.vector) + keys
}

// newDirtySet returns an empty set for the changes of c, with room for n.
func (c *core) newDirtySet(n int) *dirtySet {
	return (&dirtySet{whole: !c.opt.Outside, policy: c.keeper.persistent != nil}).like(n)
}

// like returns an empty set for the same changes.
func (d *dirtySet) like(n int) *dirtySet {
	return &dirtySet{entries: make(map[policy.ID]pending, n), topics: map[policy.TopicID]struct{}{}, whole: d.whole, policy: d.policy}
}

func (d *dirtySet) len() int { return len(d.head) + len(d.entries) + len(d.topics) }

// read adds the changes of an event. r is the entry's resident, which a removal has just removed from the store.
func (d *dirtySet) read(ev *Event, r *resident) {
	switch ev.Kind {
	case EventInsert:
		d.insert(ev)
	case EventUse, EventAnchor:
		d.mark(ev.ID, changedState)
	case EventAlias:
		if d.whole {
			d.mark(ev.ID, changedAliases)
		}
	case EventVector:
		d.setVector(ev.ID, ev.Vector)
	case EventEvict, EventExpire, EventPurge:
		d.remove(ev.ID)
	case EventArrive:
		d.topic(ev.Topic)
	}
	for _, w := range ev.Weights {
		if w.ID != 0 {
			d.mark(w.ID, changedState)
		}
	}
	if r != nil {
		d.topic(r.Topic)
	}
}

func (d *dirtySet) mark(id policy.ID, c change) {
	p := d.entries[id]
	p.change |= c
	d.entries[id] = p
}

// topic records that the policy's state of a topic may have changed.
func (d *dirtySet) topic(id policy.TopicID) {
	if id != 0 && d.policy {
		d.topics[id] = struct{}{}
	}
}

func (d *dirtySet) insert(ev *Event) {
	if !d.whole {
		d.entries[ev.ID] = pending{change: changedState}
		return
	}
	p := pending{change: changedNew | changedState, vector: ev.Vector, size: int32(len(ev.Entry.Answer) + len(ev.Entry.Prompt))}
	if ev.Replaced {
		old := d.entries[ev.ID]
		p.stored = old.change&changedNew == 0 || old.stored
		p.change |= old.change &^ changedVector
	}
	d.entries[ev.ID] = p
}

// setVector adds the vector of an entry that lacked one.
func (d *dirtySet) setVector(id policy.ID, vector []float32) {
	if !d.whole {
		return
	}
	p := d.entries[id]
	p.vector = vector
	if p.change&changedNew == 0 {
		p.change |= changedVector
	}
	d.entries[id] = p
}

func (d *dirtySet) remove(id policy.ID) {
	if p := d.entries[id]; p.change&changedNew != 0 && !p.stored {
		delete(d.entries, id)
	} else {
		d.entries[id] = pending{change: changedGone}
	}
}

// cutRemovals removes all removals. They are written first, on their own: a purge must not fail because of answers for which the
// disk has no room.
func (d *dirtySet) cutRemovals() *dirtySet {
	gone := d.like(0)
	gone.purged, d.purged = d.purged, false
	for id, p := range d.entries {
		if p.change == changedGone {
			gone.entries[id] = p
			delete(d.entries, id)
		}
	}
	gone.sort()
	return gone
}

// sort puts the changes into the order in which they are written: new entries first, because a kill loses only those, then the rest; the
// oldest first in both. A batch of ids in their order also changes few pages of a file: with ids in random order a flush took ten times as
// long.
func (d *dirtySet) sort() {
	var fresh, others []policy.ID
	for id, p := range d.entries {
		if p.change&changedNew != 0 {
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
	part, bytes := d.like(0), 0
	part.head, d.head = d.head, nil
	part.purged = d.purged
	for len(d.order) > 0 && len(part.entries) < batchChanges && bytes <= batchBytes {
		id := d.order[0]
		p := d.entries[id]
		part.entries[id], part.order = p, append(part.order, id)
		bytes += p.bytes()
		delete(d.entries, id)
		d.order = d.order[1:]
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
	for id, p := range d.entries {
		p.stored = p.stored || p.change&changedNew != 0
		d.entries[id] = p
	}
}

// bytes estimates the size of the records of all new entries and vectors, and returns how much memory the vectors take.
func (d *dirtySet) bytes() (all, vectors int) {
	for _, p := range d.entries {
		all, vectors = all+p.bytes(), vectors+4*len(p.vector)
	}
	return all, vectors
}

// absorb adds changes that came later.
func (d *dirtySet) absorb(later *dirtySet) {
	d.head = append(d.head, later.head...)
	d.purged = d.purged || later.purged
	if d.since.IsZero() {
		d.since = later.since
	}
	for id, p := range later.entries {
		old := d.entries[id]
		switch {
		case p.change == changedGone:
			d.remove(id)
		case p.change&changedNew != 0:
			p.stored = p.stored && (old.stored || old.change&changedNew == 0)
			p.change |= old.change &^ (changedGone | changedVector)
			d.entries[id] = p
		default:
			d.mark(id, p.change&^changedVector)
			if p.change&changedVector != 0 {
				d.setVector(id, p.vector)
			}
		}
	}
	maps.Copy(d.topics, later.topics)
}
