package store

import (
	"slices"

	"reprise/policy"
)

// Alias makes k another key of the entry id: a paraphrase that once hit is exact the next time. A key that has an entry
// of its own keeps it; one that was another entry's alias moves.
func (s *Store) Alias(k Key, id policy.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, old := s.ids[id], s.keys[k]
	if r == nil || old == r || old != nil && old.Key == k {
		return
	}
	if old != nil {
		s.dropAliasLocked(old, k)
	}
	if len(r.aliases) >= s.opt.MaxAliases {
		s.dropAliasLocked(r, r.aliases[0])
	}
	s.addAliasLocked(r, k)
	s.noteLocked(id, changedAliases)
}

func (s *Store) addAliasLocked(r *resident, k Key) {
	r.aliases = append(r.aliases, k)
	s.keys[k] = r
	s.aliases++
}

func (s *Store) dropAliasLocked(r *resident, k Key) {
	if i := slices.Index(r.aliases, k); i >= 0 {
		r.aliases = slices.Delete(r.aliases, i, i+1)
		delete(s.keys, k)
		s.aliases--
		s.noteLocked(r.ID, changedAliases)
	}
}
