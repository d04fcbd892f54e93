package store

import (
	"maps"
	"slices"

	"reprise/policy"
)

// builder makes the records of one batch. Their bodies are in one piece of memory.
type builder struct {
	w *writer
	Batch
	c     codec
	added int // bytes of bodies that are in the batch
}

// batch turns changes into records. Entries are immutable and are encoded outside the lock. Reading the changes in several
// steps is safe: an entry that changes in between is dirty again and comes with a later batch.
func (w *writer) batch(d *dirtySet, reserve policy.ID, learned bool) *Batch {
	bytes, _ := d.bytes()
	b := &builder{w: w, Batch: Batch{Put: d.head}, c: codec{b: make([]byte, 0, bytes)}}
	if learned {
		b.addLearned()
		b.addEvidence()
	}
	for ids := range slices.Chunk(d.order, batchLocked) {
		b.addChanges(d, ids)
	}
	for ids := range slices.Chunk(slices.Collect(maps.Keys(d.topics)), batchLocked) {
		b.addTopics(ids)
	}
	b.addCounters(reserve)
	return &b.Batch
}

// add adds a record whose body was written since the one before.
func (b *builder) add(k Kind, id uint64) {
	b.Put = append(b.Put, Record{k, id, b.c.b[b.added:len(b.c.b):len(b.c.b)]})
	b.added = len(b.c.b)
}

func (b *builder) addVector(id policy.ID, mark uint64, v []float32) {
	b.c.b = appendVector(b.c.b, mark, v)
	b.add(KindVector, uint64(id))
}

func (b *builder) addChanges(d *dirtySet, ids []policy.ID) {
	s := b.w.store
	var fresh []*Entry
	s.mu.RLock()
	var vectors []policy.ID
	for _, id := range ids {
		if r := s.core.table.ids[id]; r != nil {
			change := d.entries[id].change
			if change&changedNew != 0 {
				fresh = append(fresh, r.entry(r.more))
			}
			if change&changedVector != 0 {
				vectors = append(vectors, id)
			}
			b.addResidentLocked(r, change)
		}
	}
	s.mu.RUnlock()
	mark := spaceMark(s.core.space.Load().name)
	for _, id := range vectors {
		b.addVector(id, mark, d.entries[id].vector)
	}
	for _, e := range fresh {
		b.addFresh(e, d.entries[e.ID], mark)
	}
}

func (b *builder) addFresh(e *Entry, p pending, mark uint64) {
	b.c.entry(e)
	b.add(KindEntry, uint64(e.ID))
	switch {
	case len(p.vector) > 0:
		b.addVector(e.ID, mark, p.vector)
	case p.stored: // the older answer may have had one
		b.Delete = append(b.Delete, Record{Kind: KindVector, ID: uint64(e.ID)})
	}
}

func (b *builder) addResidentLocked(r *resident, c change) {
	core := &b.w.store.core
	if c&changedState != 0 {
		st := entryState{last: r.last, turn: r.Turn, anchor: core.table.isAnchor(r)}
		st.policy, _ = core.keeper.entryState(r.ID)
		b.c.state(&st)
		b.add(KindState, uint64(r.ID))
	}
	if c&changedAliases != 0 {
		all := r.aliases()
		b.c.aliases(&all)
		b.add(KindAliases, uint64(r.ID))
	}
}

func (b *builder) addTopics(topics []policy.TopicID) {
	s := b.w.store
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, id := range topics {
		if st, ok := s.core.keeper.topicState(id); ok {
			b.c.topic(&st)
			b.add(KindTopic, uint64(id))
		} else {
			b.Delete = append(b.Delete, Record{Kind: KindTopic, ID: uint64(id)})
		}
	}
}

// addCounters adds the counters if they have changed since they were last written.
func (b *builder) addCounters(reserve policy.ID) {
	s := b.w.store
	s.mu.RLock()
	defer s.mu.RUnlock()
	c := s.core.counters(s.clock.last())
	if c == b.w.written && reserve == b.w.reserved && len(b.Put)+len(b.Delete) == 0 {
		return
	}
	b.w.written, b.w.reserved = c, reserve
	c.nextID += reserve
	b.c.counters(&c)
	b.add(KindCounters, 0)
}
