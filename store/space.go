package store

// space is the vector space of the embedder.
type space struct {
	name string // "": it is not known yet, see Options.Former
	dim  int
}

func (s *space) record() Record { return Record{KindFormat, 0, []byte(s.name)} }

// SetSpace names the space of s, and the length of its vectors, which were not known when it was opened: vectors may be put and set from now
// on. Call it once, before the first of them. What the backing has in this space is not read again; entries that were put before count with
// the Options.Dim of then until the next start.
func SetSpace(s *Store, name string, dim int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := &space{name, dim}
	s.core.space.Store(now)
	if s.core.dirty != nil && !s.opt.Outside {
		s.core.dirty.head = append(s.core.dirty.head, now.record())
	}
}
