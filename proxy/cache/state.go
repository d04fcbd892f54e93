package cache

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"reprise/policy"
	"reprise/store"
	"reprise/topics"
)

// state is what a cache changes: store and topics, under one lock and in one order.
type state struct {
	store   *store.Store
	topics  *topics.Topics
	turns   turns
	readers []Reader
	forms   *forms // nil: nothing is found by its normal form
	studied bool   // Options.Studied
	log     Log    // nil: none; where there is one, other processes change the store, too
	uses    uses   // counted, and not applied yet
	// templates are the frames of prompts, by which requests and entries are placed.
	templates templates

	mu      sync.Mutex // held for every change of store or topics, while both and the readers are called; protects what follows
	fault   error      // of uses that were applied; the last one
	applied bool       // the change under way was read from a log
	copies  copies
	moved   moved
	back    bool // the insertion under way puts an entry back

	// epoch counts the purges that have begun; an answer whose request came before the last one is not kept. It changes under mu.
	epoch atomic.Uint64
	// purges counts those that have removed their entries; see Cache.Serves.
	purges atomic.Uint64
}

// keepLocked stores e, the answer to a request that came at a time, whose topic is given where it is known. f gets passed,
// completed by what the store has made of it.
func (s *state) keepLocked(e *store.Entry, at policy.Tick, topic topics.TopicID, by *Cause, f *Finding, passed Passed) (policy.ID, string, error) {
	evs := s.store.Put(e, at)
	f.inserted(passed, evs)
	err := s.settleLocked(evs, topic, by)
	if slices.ContainsFunc(evs, func(ev Event) bool { return ev.Kind == store.EventInsert && !ev.Refused }) {
		return e.ID, "", err
	}
	return 0, ReasonPolicy, err
}

func (s *state) touchLocked(ev *Event) {
	s.topics.Touch(topics.EntryID(ev.ID), ev.At.Seq, topics.EntryID(ev.Detected), ev.Searched)
}

// remove removes entries that were looked up before, unless another answer has taken their place since.
func (s *state) remove(why policy.Reason, entries ...*store.Entry) error {
	s.lock()
	defer s.mu.Unlock()
	var ids []policy.ID
	for _, e := range entries {
		if now, ok := s.store.Get(e.ID); ok && now.SameAnswer(e) {
			ids = append(ids, e.ID)
		}
	}
	return s.settleLocked(s.store.Remove(why, ids...), 0, nil)
}

// alias makes a key lead to an entry from now on. An entry of the key's own that has expired is removed, because it would keep the
// key from becoming an alias, and an answer to take its place comes only when the other entry has left.
func (s *state) alias(k store.Key, id policy.ID, basis uint64, now time.Time) (err error) {
	s.lock()
	defer s.mu.Unlock()
	if own, alias, ok := s.store.Lookup(k); ok && !alias && !own.Usable(now) {
		err = s.settleLocked(s.store.Remove(policy.Expired, own.ID), 0, nil)
	}
	return errors.Join(err, s.settleLocked(s.store.Alias(k, id, basis), 0, nil))
}

// refuse keeps an entry from answering a key: the alias that is recorded leads nowhere. A key with an entry of its own needs none.
func (s *state) refuse(k store.Key, id policy.ID) error {
	s.lock()
	defer s.mu.Unlock()
	if now := s.moved.of(id); len(now) > 0 { // it was purged and put back since the verdict
		id = now[len(now)-1]
	}
	s.copies.refusedLocked(k, id)
	return s.settleLocked(s.store.Alias(k, id, refused), 0, nil)
}

// arrive announces a miss on a topic to the policy.
func (s *state) arrive(topic policy.TopicID, at policy.Tick) {
	s.lock()
	defer s.mu.Unlock()
	ev := s.store.Arrive(topic, at)
	s.publishLocked(&ev, nil)
}

// route searches the topics. Topics that have lost their anchor get a new one first, which is a change like any other.
func (s *state) route(q topics.Query) topics.Route {
	for {
		if r, ok := s.topics.Search(q); ok {
			return r
		}
		s.refresh(q.Scope)
	}
}

func (s *state) refresh(scope topics.ScopeID) {
	s.lock()
	defer s.mu.Unlock()
	for _, id := range s.topics.Refresh(scope) {
		s.anchorLocked(policy.ID(id))
	}
}

// settleLocked publishes what the store has changed, and makes the topics follow. topic is that of an inserted entry.
func (s *state) settleLocked(evs []Event, topic topics.TopicID, by *Cause) (err error) {
	for i := range evs {
		if failed := s.settleOneLocked(&evs[i], topic, by); failed != nil {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// settleOneLocked follows one event. A fault of the topics costs only that the entry is not found by meaning.
func (s *state) settleOneLocked(ev *Event, topic topics.TopicID, by *Cause) error {
	s.publishLocked(ev, by)
	return guard("topics", func() error {
		_, removed := ev.Reason()
		if removed || ev.Kind == store.EventInsert && ev.Replaced && (ev.Vector == nil || s.movedLocked(ev.Entry)) {
			s.topics.Forget(topics.EntryID(ev.ID))
		}
		if ev.Kind == store.EventInsert && !ev.Refused && ev.Vector != nil {
			if err := s.addLocked(ev, topic); err != nil {
				return err
			}
		}
		for _, w := range ev.Weights {
			if w.ID != 0 && s.topics.SetImportance(topics.EntryID(w.ID), w.Importance) {
				s.chosenLocked(w.ID)
			}
		}
		return nil
	})
}

// movedLocked reports whether e is in the topics in another scope or under other earlier turns.
func (s *state) movedLocked(e *store.Entry) bool {
	scope, chain, ok := s.topics.Placed(topics.EntryID(e.ID))
	return ok && (scope != topics.ScopeID(e.Scope) || chain != e.Chain)
}

// addLocked adds an entry to its topic. One that takes the place of an entry that was not compared by meaning keeps the topic of
// that one, in the store and for the policy, and so in the topics, wherever its request was routed to.
func (s *state) addLocked(ev *Event, topic topics.TopicID) error {
	e := ev.Entry
	if ev.Replaced && e.Topic != 0 {
		topic = topics.TopicID(e.Topic)
	}
	_, anchor, err := s.topics.Add(topics.Member{ID: topics.EntryID(e.ID), Scope: topics.ScopeID(e.Scope), Chain: e.Chain,
		Vector: ev.Vector, Topic: topic, Parent: topics.EntryID(e.Parent), Seq: ev.At.Seq})
	if anchor {
		s.chosenLocked(e.ID)
	}
	return err
}

// anchorLocked notes that an entry became the anchor of its topic.
func (s *state) anchorLocked(id policy.ID) {
	if ev, _, ok := s.store.Anchor(id); ok {
		s.publishLocked(&ev, nil)
	}
}

// chosenLocked notes that the topics have made an entry the anchor of its topic. They choose by importance, which is not the same in all
// processes that share a store. So a topic that has an anchor keeps it while the log of the others is applied: if they have chosen
// another, the log has that, too.
func (s *state) chosenLocked(id policy.ID) {
	ev, former, ok := s.store.Anchor(id)
	switch {
	case !ok:
	case s.log != nil && s.applied && former != 0 && former != id && s.topics.RestoreAnchor(topics.EntryID(former)):
		s.store.Anchor(former)
	default:
		s.publishLocked(&ev, nil)
	}
}

// publishLocked passes an event to the readers. They get a copy: else each event would be on the heap, also where there are none.
func (s *state) publishLocked(ev *Event, by *Cause) {
	if len(s.readers) == 0 && s.log == nil {
		return
	}
	published := *ev
	published.Applied, published.Back = s.applied, s.back && ev.Kind == store.EventInsert
	if s.log != nil {
		s.log.Read(&published, nil)
	}
	if len(s.readers) == 0 {
		return
	}
	if ev.Kind == store.EventUse { // the store names only the id
		if now, ok := s.store.Get(ev.ID); ok {
			published.Entry = now
		}
	}
	for _, r := range s.readers {
		r.Read(&published, by)
	}
}
