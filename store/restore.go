package store

import (
	"cmp"
	"crypto/rand"
	"iter"
	"maps"
	"slices"
	"time"

	"reprise/policy"
)

// restored is what Open found and Restored returns.
type restored struct {
	vectors map[policy.ID][]float32
	dropped []Event // entries that were found and not taken in
}

// restore fills the store with what was read.
func (s *Store) restore(l *loader) {
	blank, _ := s.keeper.snapshot()
	order := l.order(s.opt.Now(), s.opt.Limit)
	for _, r := range order {
		s.restoreEntry(r, l)
	}
	for _, r := range order {
		s.restoreAliases(r, l)
	}
	s.restorePolicy(l)
	s.dropOrphans(l)
	s.restoreLearned(l, blank)
}

func (s *Store) restoreNumbers(l *loader) {
	if l.secret != nil {
		s.secret = *l.secret
	} else {
		rand.Read(s.secret[:])
	}
	c := l.counters
	last := policy.Tick{Seq: c.seq, At: c.at}
	s.restoreID(c.nextID)
	s.topicLocked(c.maxTopic)
	for id, r := range l.entries {
		r.last, r.Turn = l.states[id].last, l.states[id].turn
		last.Seq = max(last.Seq, r.last)
		s.restoreID(id)
		s.topicLocked(r.Topic)
	}
	for _, t := range l.topics {
		s.topicLocked(t.ID)
	}
	s.clock.resume(last)
}

// restoreID keeps an id of this process from being made again.
func (s *Store) restoreID(id policy.ID) {
	if ownID(s.opt.Process, id) {
		s.nextID = max(s.nextID, id)
	}
}

// order chooses the entries that are to live on, last accessed last. Of two with one key the newer stays.
func (l *loader) order(now time.Time, limit policy.Limit) []*resident {
	all := slices.SortedFunc(maps.Values(l.entries), func(a, b *resident) int {
		return cmp.Or(cmp.Compare(b.last, a.last), cmp.Compare(b.ID, a.ID))
	})
	newest := make(map[Key]policy.ID, len(all))
	for _, r := range all {
		newest[r.Key] = max(newest[r.Key], r.ID)
	}
	kept, bytes := all[:0], int64(0)
	for _, r := range all {
		r.Size = r.Footprint(len(l.vectors[r.ID]))
		full := limit.Entries > 0 && len(kept) >= limit.Entries || limit.Bytes > 0 && bytes+r.Size > limit.Bytes
		if full || newest[r.Key] != r.ID || r.over(now) {
			continue
		}
		kept, bytes = append(kept, r), bytes+r.Size
	}
	slices.Reverse(kept)
	return kept
}

func (s *Store) restoreEntry(r *resident, l *loader) {
	s.table.add(r)
	if v := l.vectors[r.ID]; v != nil {
		s.restored.vectors[r.ID] = v
	}
	s.keeper.ledger.Insert(r.item(), policy.Tick{Seq: r.last, At: s.clock.last().At}, nil)
}

func (s *Store) restoreAliases(r *resident, l *loader) {
	for _, k := range l.aliases[r.ID] {
		if s.table.keys[k] == nil && len(r.aliases) < s.opt.MaxAliases {
			s.table.addAlias(r, k)
		}
	}
	if l.states[r.ID].anchor {
		s.table.setAnchor(r)
	}
}

func (s *Store) restorePolicy(l *loader) {
	if s.keeper.persistent == nil {
		return
	}
	for id := range s.table.ids {
		if st, ok := l.states[id]; ok && st.policy.ID == id {
			s.keeper.persistent.ImportEntry(st.policy)
		}
	}
	for _, t := range l.topics {
		s.keeper.persistent.ImportTopic(t)
		if _, ok := s.keeper.persistent.ExportTopic(t.ID); !ok {
			s.dirty.topic(t.ID) // the policy has no use for it any more: to be deleted
		}
	}
}

// dropOrphans makes everything dirty that belongs to no entry any more, so that it is deleted.
func (s *Store) dropOrphans(l *loader) {
	now := s.opt.Now()
	for _, id := range slices.Sorted(maps.Keys(l.entries)) {
		if s.table.ids[id] == nil {
			why := EventEvict
			if !l.entries[id].Usable(now) {
				why = EventExpire
			}
			s.restored.dropped = append(s.restored.dropped, Event{Kind: why, ID: id})
			s.dirty.entries[id] = changedGone
		}
	}
	for id := range l.vectors {
		s.dropOrphan(id)
	}
	for id := range l.aliases {
		s.dropOrphan(id)
	}
	for id := range l.states {
		s.dropOrphan(id)
	}
}

func (s *Store) dropOrphan(id policy.ID) {
	if s.table.ids[id] == nil {
		s.dirty.entries[id] = changedGone
	}
}

// Restored is an entry that Open found. The Entry is a copy with its vector.
type Restored struct {
	*Entry
	Last       int64   // number of the request that it answered last
	Importance float64 // as the policy has it
	Anchor     bool    // the entry was the anchor of its topic
}

// Restored yields the entries that Open found, the last accessed last, and returns the removal of those that it found and
// dropped. Then it lets go of the vectors: a second call yields nothing. Call it before anything else is stored.
func (s *Store) Restored() (entries iter.Seq[Restored], dropped []Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.restored
	if found == nil {
		return func(func(Restored) bool) {}, nil
	}
	s.restored = nil
	order := slices.SortedFunc(maps.Values(s.table.ids), func(a, b *resident) int {
		return cmp.Or(cmp.Compare(a.last, b.last), cmp.Compare(a.ID, b.ID))
	})
	return func(yield func(Restored) bool) {
		for _, r := range order {
			e := r.Entry
			e.Vector = found.vectors[e.ID]
			if !yield(Restored{&e, r.last, s.Importance(e.ID), s.isAnchor(r)}) {
				return
			}
		}
	}, found.dropped
}

func (s *Store) isAnchor(r *resident) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.table.isAnchor(r)
}
