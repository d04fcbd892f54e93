package store

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"reprise/policy"
)

// restore fills a core with the records that were read. now is the time of the load, at the time of the last tick before.
func (l *loader) restore(c *core, now time.Time, at float64) {
	blank, _ := c.keeper.snapshot()
	order := l.order(now, c.opt.Limit)
	for _, r := range order {
		c.table.add(r)
		c.table.noteVector(r, l.vectors[r.ID])
		c.inside.add(r, len(l.vectors[r.ID])) // a record has no answer where it counts
		c.keeper.ledger.Insert(r.item(), policy.Tick{Seq: r.last, At: at}, nil)
	}
	for _, r := range order {
		l.restoreKeys(c, r)
	}
	l.restorePolicy(c)
	l.dropOrphans(c, now)
	l.restoreLearned(c.keeper.panel, blank)
}

// restoreNumbers makes new ids and ticks continue after those that were read, and returns the last tick.
func (l *loader) restoreNumbers(c *core) (last policy.Tick) {
	last = policy.Tick{Seq: l.counters.seq, At: l.counters.at}
	c.purges.Store(l.counters.purges)
	c.sawID(l.counters.nextID)
	c.sawTopic(l.counters.maxTopic)
	for id, r := range l.entries {
		r.last, r.Turn = l.states[id].last, l.states[id].turn
		last.Seq = max(last.Seq, r.last)
		c.sawID(id)
		c.sawTopic(r.Topic)
	}
	for _, t := range l.topics {
		c.sawTopic(t.ID)
	}
	return last
}

// order returns the entries that are kept, last accessed last. Of two entries with one key it keeps the newer.
func (l *loader) order(now time.Time, limit policy.Limit) []*resident {
	all := slices.SortedFunc(maps.Values(l.entries), func(a, b *resident) int {
		return cmp.Or(cmp.Compare(b.last, a.last), cmp.Compare(b.ID, a.ID))
	})
	newest := newestOf(l.entries)
	kept, bytes := all[:0], int64(0)
	for _, r := range all {
		if r.Size == 0 {
			r.Size = r.footprint(dimOf(r.Prompt, l.vectors[r.ID], l.space.dim))
		}
		size := r.Size + aliasSize*int64(len(l.aliases[r.ID]))
		full := limit.Entries > 0 && len(kept) >= limit.Entries || limit.Bytes > 0 && bytes+size > limit.Bytes
		if life := r.life(); full || newest[r.Key] != r.ID || life.over(now) {
			continue
		}
		kept, bytes = append(kept, r), bytes+size
	}
	slices.Reverse(kept)
	return kept
}

// newestOf returns the entry of each key whose answer came last. A key has two entries if processes that share a store stored one at once.
func newestOf(entries map[policy.ID]*resident) map[Key]policy.ID {
	newest := make(map[Key]policy.ID, len(entries))
	for _, r := range entries {
		if other := entries[newest[r.Key]]; other == nil || cmp.Or(cmp.Compare(r.created, other.created), cmp.Compare(r.ID, other.ID)) > 0 {
			newest[r.Key] = r.ID
		}
	}
	return newest
}

// restoreKeys restores the aliases of an entry, and makes it the anchor of its topic if it was.
func (l *loader) restoreKeys(c *core, r *resident) {
	for _, a := range l.aliases[r.ID] {
		if c.table.keys[a.key] == nil && len(r.aliases()) < c.opt.MaxAliases {
			c.table.addAlias(r, a)
			c.keeper.ledger.Grow(r.ID, aliasSize, nil) // never over a limit: order has counted it
		}
	}
	if l.states[r.ID].anchor {
		c.table.setAnchor(r)
	}
}

func (l *loader) restorePolicy(c *core) {
	p := c.keeper.persistent
	if p == nil {
		return
	}
	for id := range c.table.ids {
		if st, ok := l.states[id]; ok && st.policy.ID == id {
			p.ImportEntry(st.policy)
		}
	}
	for _, t := range l.topics {
		p.ImportTopic(t)
		if _, ok := p.ExportTopic(t.ID); !ok {
			c.dirty.topic(t.ID) // the policy does not use it any more: to be deleted
		}
	}
}

// dropOrphans marks all records without an entry for deletion.
func (l *loader) dropOrphans(c *core, now time.Time) {
	for _, id := range slices.Sorted(maps.Keys(l.entries)) {
		if c.dropOrphan(id) {
			why := EventEvict
			if life := l.entries[id].life(); !life.Usable(now) {
				why = EventExpire
			}
			l.dropped = append(l.dropped, Event{Kind: why, ID: id, Key: l.entries[id].Key})
		}
	}
	for id := range l.vectors { // the core has this map by now
		if c.dropOrphan(id) {
			delete(l.vectors, id)
		}
	}
	for id := range l.aliases {
		c.dropOrphan(id)
	}
	for id := range l.states {
		c.dropOrphan(id)
	}
}

// Restored is an entry that Open found. The Entry has its vector; both are valid until the next entry is yielded.
type Restored struct {
	*Entry
	Last       int64   // number of the request that it answered last
	Importance float64 // as the policy has it
	Anchor     bool    // the entry was the anchor of its topic
}

// Restored yields the entries that Open found, the last accessed last, and returns the removal of those that it found and
// dropped. Then it releases the vectors: a second call yields nothing. Call it before anything is stored.
func (s *Store) Restored() (entries iter.Seq[Restored], dropped []Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	vectors, dropped := s.core.vectors, s.dropped
	s.core.vectors, s.dropped = nil, nil
	if vectors == nil {
		return func(func(Restored) bool) {}, nil
	}
	order := slices.SortedFunc(maps.Values(s.core.table.ids), func(a, b *resident) int {
		return cmp.Or(cmp.Compare(a.last, b.last), cmp.Compare(a.ID, b.ID))
	})
	return func(yield func(Restored) bool) {
		for _, r := range order {
			s.mu.RLock()
			one := s.core.restored(r)
			s.mu.RUnlock()
			one.Vector = vectors[r.ID]
			delete(vectors, r.ID) // the caller copies it: two copies of all vectors would be the peak of memory of a start
			if !yield(one) {
				return
			}
		}
	}, dropped
}

// restored describes r, without its vector.
func (c *core) restored(r *resident) Restored {
	return Restored{Entry: r.entry(r.more), Last: r.last, Importance: c.keeper.importance(r.ID), Anchor: c.table.isAnchor(r)}
}
