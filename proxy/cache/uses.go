package cache

import (
	"sync"

	"reprise/policy"
	"reprise/store"
	"reprise/topics"
)

// mostUses is how many uses wait at most. Applied together, their code and the state of the policy stay in the CPU's cache; more of them
// gain little, and the hit that applies them delays the next request of its connection.
const mostUses = 16

// use is a request that an entry answered.
type use struct {
	id       policy.ID
	parent   policy.ID // of the conversation; 0: none
	at       policy.Tick
	compared bool // by meaning
	detect   bool // a parent is to be found by similarity
	read     *readUse
}

// readUse is what the readers of the log get to see of a use.
type readUse struct {
	request *Request
	entry   *store.Entry
	vector  []float32
}

// uses are those that have been counted and wait to be applied, in their order. The policy decides at changes of other kinds only, and
// each of these applies them first, so that it decides as if each use had been applied at once. A use therefore takes no lock of the
// state, and waits for no insert.
type uses struct {
	mu      sync.Mutex // protects what follows
	waiting []use
	spare   []use // the other buffer, while it is not being applied
}

// add counts u, and reports whether as many wait as may.
func (w *uses) add(u use) (full bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = append(w.waiting, u)
	return len(w.waiting) >= mostUses
}

// take returns those that wait.
func (w *uses) take() []use {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.waiting
	w.waiting, w.spare = w.spare[:0], nil
	return all
}

// giveBack returns the buffer of take.
func (w *uses) giveBack(all []use) {
	clear(all)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spare = all[:0]
}

// any reports whether some wait.
func (w *uses) any() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.waiting) > 0
}

// lock begins a change: the uses that wait come before it. A fault of them is returned by the next Settle.
func (s *state) lock() {
	s.mu.Lock()
	s.applyUsesLocked()
}

// trySettle applies the uses that wait unless a change is under way: they then come after it.
func (s *state) trySettle() {
	if s.uses.any() && s.mu.TryLock() {
		defer s.mu.Unlock()
		s.applyUsesLocked()
	}
}

func (s *state) applyUsesLocked() {
	all := s.uses.take()
	for i := range all {
		if err := guard("policy", func() error { return s.useLocked(&all[i]) }); err != nil {
			s.fault = err
		}
	}
	s.uses.giveBack(all)
}

// useLocked applies a use: its parent is the answer before in the conversation, or else one that is found only now.
func (s *state) useLocked(u *use) error {
	ev := Event{Kind: store.EventUse, ID: u.id, At: u.at, Parent: u.parent}
	if u.detect {
		var detected topics.EntryID
		detected, ev.Searched = s.topics.ParentOf(topics.EntryID(u.id), u.at.Seq)
		ev.Detected = policy.ID(detected)
	}
	if ev.Parent == 0 {
		ev.Parent = ev.Detected
	}
	if u.compared {
		s.touchLocked(&ev)
	}
	var by *Cause
	if u.read != nil {
		ev.Entry, ev.Vector = u.read.entry, u.read.vector
		by = s.cause(u.read.request, ev.Parent)
	}
	if hit, ok := s.store.Hit(ev.ID, ev.Parent, ev.At); ok { // it may have been removed while it answered
		ev.Weights = hit.Weights
	}
	return s.settleOneLocked(&ev, 0, by)
}
