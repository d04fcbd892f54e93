package store

import (
	"cmp"
	"fmt"
	"slices"

	"reprise/policy"
)

// Listed is an entry as a backing lists it, with its aliases and its state in the policy.
type Listed struct {
	*Entry // without its answer; Vector is set where it has one
	Anchor bool
	Last   int64 // number of the request that it answered last

	aliases []alias
	state   policy.EntryState
}

// Listing is the content of the backing of a shared store.
type Listing struct {
	Entries []*Listed           // the last accessed last
	topics  []policy.TopicState // topics that the policy did not have
	// Evidence is what KeepEvidence has written last, nil if it has written nothing.
	Evidence []byte
}

// List reads the entries of a shared store while this one is in use, all into memory. It leaves out damaged records and reports them as a
// fault.
func (s *Store) List(from Backing) (*Listing, error) {
	l := newLoader(s.core.space.Load())
	report, err := from.Load(l.add)
	if err != nil {
		return nil, fmt.Errorf("list entries: %w", err)
	}
	if n := report.Skipped + l.skipped; n > 0 {
		s.opt.OnFault("load", fmt.Errorf("%w in %s: %d records skipped", ErrDamaged, report.Name, n))
	}
	s.clock.resume(policy.Tick{Seq: l.counters.seq})
	all := &Listing{Entries: make([]*Listed, 0, len(l.entries)), Evidence: l.evidence}
	newest := newestOf(l.entries)
	for _, r := range l.entries {
		if newest[r.Key] == r.ID {
			all.Entries = append(all.Entries, l.listed(r))
		}
	}
	slices.SortFunc(all.Entries, func(a, b *Listed) int { return cmp.Or(cmp.Compare(a.Last, b.Last), cmp.Compare(a.ID, b.ID)) })
	s.mu.RLock()
	defer s.mu.RUnlock()
	all.topics = slices.DeleteFunc(l.topics, func(t policy.TopicState) bool {
		_, known := s.core.keeper.topicState(t.ID)
		return known
	})
	return all, nil
}

// FinishList imports the listed topics into the policy. Call it after the listed entries were inserted.
func (s *Store) FinishList(l *Listing) {
	p := s.core.keeper.persistent
	if p == nil {
		return
	}
	for part := range slices.Chunk(l.topics, batchLocked) {
		s.change(func(*events) {
			for _, t := range part {
				p.ImportTopic(t)
			}
		})
	}
}

func (l *loader) listed(r *resident) *Listed {
	st := l.states[r.ID]
	r.Turn = st.turn
	one := &Listed{Entry: r.entry(r.more), Anchor: st.anchor, Last: st.last, aliases: l.aliases[r.ID], state: st.policy}
	one.stored, one.Vector = nil, l.vectors[r.ID]
	return one
}

// Insert stores an entry as it is listed, with these aliases and no others, and returns what it changed. If replaced, because the answer was
// replaced here since, it changes only the aliases. Ticks are as in Apply.
func (s *Store) Insert(e *Listed, replaced bool) []Event {
	at := s.clock.last()
	return s.change(func(evs *events) {
		if !replaced {
			e.insert(&s.core, at, evs)
		}
		r := s.core.table.ids[e.ID]
		if r == nil || r.Key != e.Key {
			return
		}
		s.core.keepAliases(r, e.aliases)
		for _, a := range e.aliases {
			if !slices.Contains(r.aliases(), a) {
				s.core.alias(r, a, evs)
			}
		}
	})
}

func (e *Listed) insert(c *core, at policy.Tick, evs *events) {
	known := c.table.ids[e.ID] != nil
	c.apply(Event{Kind: EventInsert, ID: e.ID, At: at, Entry: e.Entry, Vector: e.Vector}, evs)
	r := c.table.ids[e.ID]
	if known || r == nil {
		return
	}
	if p := c.keeper.persistent; p != nil && e.state.ID == e.ID {
		p.ImportEntry(e.state)
	}
	r.last = max(r.last, e.Last)
}

// keepAliases ends the aliases of r that are not in keep.
func (c *core) keepAliases(r *resident, keep []alias) {
	for _, a := range slices.Clone(r.aliases()) {
		if !slices.Contains(keep, a) {
			c.dropAlias(r, a.key)
		}
	}
}
