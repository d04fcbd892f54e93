package store

import (
	"fmt"
	"slices"

	"reprise/policy"
)

// guarded runs f under the lock. A panic of the policy becomes a fault: whatever it did half, the entries that the
// ledger still has are those of the store. It returns the entries that were lost by that.
func (s *Store) guarded(f func()) (lost []policy.ID) {
	lost, err := s.try(f)
	if err != nil {
		s.opt.OnFault("policy", err)
	}
	return lost
}

func (s *Store) try(f func()) (lost []policy.ID, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("run policy: %v", p)
			s.faults++
			lost = s.reconcileLocked()
		}
	}()
	f()
	return nil, nil
}

// reconcileLocked forgets the entries that the ledger has let go without the store's hearing of it.
func (s *Store) reconcileLocked() (lost []policy.ID) {
	for id := range s.ids {
		if !s.ledger.Has(id) {
			s.forgetLocked(id)
			lost = append(lost, id)
		}
	}
	slices.Sort(lost)
	return lost
}
