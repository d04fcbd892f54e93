package cache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"reprise/policy"
	"reprise/store"
	"reprise/topics"
)

// Restore fills the topics with what the store has kept from before a restart, anchors included. Where nothing is compared by
// meaning they stay empty, and the store frees the vectors all the same.
//
// An error that is a Fault concerns entries that cannot be found by meaning; the cache can be used all the same.
func (c *Cache) Restore(ctx context.Context) (faults error) {
	defer func() { faults = errors.Join(faults, c.state.restoreForms()) }()
	if c.opt.Evidence == nil {
		faults = c.learner.restoreEvidence(c.state.store.Evidence())
		c.state.dropFrames()
	}
	c.state.lock()
	defer c.state.mu.Unlock()
	last := topics.TopicID(c.state.store.MaxTopic())
	c.state.topics.SetProcess(last.Process()) // that of the store
	c.state.topics.SetNext(last + 1)
	entries, dropped := c.state.store.Restored()
	for i := range dropped {
		c.state.publishLocked(&dropped[i], nil)
	}
	anchors := map[policy.TopicID]candidate{}
	for e := range entries {
		if e.Vector == nil || e.Prompt == "" || !c.opt.Meaning {
			continue
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("restore topics: %w", err)
		}
		if err := guard("topics", func() error { return c.state.restoreEntry(e) }); err != nil {
			faults = errors.Join(faults, err)
			continue
		}
		one := candidate{e.ID, e.Last, e.Importance, e.Anchor}
		if best, ok := anchors[e.Topic]; !ok || one.order(best) > 0 {
			anchors[e.Topic] = one
		}
	}
	c.state.restoreAnchorsLocked(anchors)
	return faults
}

// formsAtOnce is how many forms are made during a start, at some 10 µs each. Those of older entries follow while the cache is used.
const formsAtOnce = 10_000

// restoreForms adds what the store has. Faults of the later part are not reported: these entries are found by their vectors.
func (s *state) restoreForms() (faults error) {
	if s.forms == nil {
		return nil
	}
	var ids []policy.ID
	for e := range s.store.All() {
		if e.Prompt != "" {
			ids = append(ids, e.ID)
		}
	}
	slices.Reverse(ids) // the last ones first
	n := min(len(ids), formsAtOnce)
	faults = s.forms.addOld(ids[:n])
	if n < len(ids) {
		go func() { _ = s.forms.addOld(ids[n:]) }()
	}
	return faults
}

func (s *state) restoreEntry(e store.Restored) error {
	_, _, err := s.topics.Add(topics.Member{ID: topics.EntryID(e.ID), Scope: topics.ScopeID(e.Scope), Chain: e.Chain,
		Vector: e.Vector, Topic: topics.TopicID(e.Topic), Parent: topics.EntryID(e.Parent), Last: e.Last, Importance: e.Importance})
	return err
}

// restoreAnchorsLocked makes the anchors of before the restart the anchors again. A topic that had lost its anchor by then gets
// the one that topics.Refresh would have chosen, which is a new anchor like any other.
func (s *state) restoreAnchorsLocked(anchors map[policy.TopicID]candidate) {
	for _, one := range anchors {
		s.topics.RestoreAnchor(topics.EntryID(one.id))
		if !one.anchor {
			s.anchorLocked(one.id)
		}
	}
}

// candidate is an entry that may become the anchor of its topic.
type candidate struct {
	id         policy.ID
	last       int64
	importance float64
	anchor     bool // it was the anchor before
}

// order is above 0 if a is to be the anchor rather than b: the anchor of before, or else the most important member; ties go to the
// latest access, then to the lower id.
func (a candidate) order(b candidate) int {
	if a.anchor != b.anchor {
		if a.anchor {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(a.importance, b.importance), cmp.Compare(a.last, b.last), cmp.Compare(b.id, a.id))
}
