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

// restore fills the store with what was read.
func (s *Store) restore(l *loader) {
	s.restoreNumbers(l)
	blank, _ := s.snapshotLocked()
	order := l.order(s.opt.Now(), s.opt.Limit)
	s.restored = make(map[policy.ID][]float32, len(order))
	for _, r := range order {
		s.restoreEntry(r, l)
	}
	for _, r := range order {
		s.restoreAliases(r, l.aliases[r.ID])
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
	s.base, s.seq, s.nextID, s.maxTopic = max(s.base, c.at), c.seq, c.nextID, c.maxTopic
	s.at = s.base
	for id, r := range l.entries {
		r.last, r.Turn = l.states[id].last, l.states[id].turn
		s.seq, s.nextID, s.maxTopic = max(s.seq, r.last), max(s.nextID, id), max(s.maxTopic, r.Topic)
	}
	for _, t := range l.topics {
		s.maxTopic = max(s.maxTopic, t.ID)
	}
	s.written, s.toldTopic = s.countersLocked(), s.maxTopic
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
		size := r.Footprint(len(l.vectors[r.ID]))
		full := limit.Entries > 0 && len(kept) >= limit.Entries || limit.Bytes > 0 && bytes+size > limit.Bytes
		if full || newest[r.Key] != r.ID || !r.Usable(now) {
			continue
		}
		kept, bytes = append(kept, r), bytes+size
	}
	slices.Reverse(kept)
	return kept
}

func (s *Store) restoreEntry(r *resident, l *loader) {
	s.labelLocked(&r.Entry)
	s.addLocked(r)
	if v := l.vectors[r.ID]; v != nil {
		s.restored[r.ID] = v
	}
	at := policy.Tick{Seq: r.last, At: s.at}
	s.ledger.Insert(r.item(len(l.vectors[r.ID])), at, nil)
}

func (s *Store) restoreAliases(r *resident, keys []Key) {
	for _, k := range keys {
		if s.keys[k] == nil && len(r.aliases) < s.opt.MaxAliases {
			s.addAliasLocked(r, k)
		}
	}
}

func (s *Store) restorePolicy(l *loader) {
	if s.persistent == nil {
		return
	}
	for id := range s.ids {
		if st, ok := l.states[id]; ok && st.policy.ID == id {
			s.persistent.ImportEntry(st.policy)
		}
	}
	for _, t := range l.topics {
		s.persistent.ImportTopic(t)
		if _, ok := s.persistent.ExportTopic(t.ID); !ok {
			s.topicLocked(t.ID) // the policy has no use for it any more: to be deleted
		}
	}
}

// dropOrphans owes the backing the removal of everything that belongs to no entry.
func (s *Store) dropOrphans(l *loader) {
	drop := func(id policy.ID) {
		if s.ids[id] == nil {
			s.noteGoneLocked(id)
		}
	}
	for id := range l.entries {
		drop(id)
	}
	for id := range l.vectors {
		drop(id)
	}
	for id := range l.aliases {
		drop(id)
	}
	for id := range l.states {
		drop(id)
	}
}

// Restored yields the entries that Open found with the number of their last access, the latest last, as copies with their
// vectors, and then lets go of the vectors: a second call yields entries without. Call it before anything else is stored.
func (s *Store) Restored() iter.Seq2[*Entry, int64] {
	return func(yield func(*Entry, int64) bool) {
		s.mu.Lock()
		vectors := s.restored
		s.restored = nil
		order := slices.Collect(maps.Values(s.ids))
		s.mu.Unlock()
		slices.SortFunc(order, func(a, b *resident) int {
			return cmp.Or(cmp.Compare(a.last, b.last), cmp.Compare(a.ID, b.ID))
		})
		for _, r := range order {
			e := r.Entry
			e.Vector = vectors[e.ID]
			if !yield(&e, r.last) {
				return
			}
		}
	}
}
