package store

import (
	"math"
	"slices"

	"reprise/policy"
)

// keeper is the policy with its ledger. The interfaces that a policy does not implement are nil.
type keeper struct {
	evictor    policy.Evictor
	ledger     *policy.Ledger
	arriver    policy.Arriver
	linker     policy.Linker
	persistent policy.Persistent
	panel      policy.Panel
	forecaster policy.Forecaster
}

func newKeeper(e policy.Evictor, limit policy.Limit) keeper {
	k := keeper{evictor: e, ledger: policy.NewLedger(e, limit)}
	k.arriver, _ = e.(policy.Arriver)
	k.linker, _ = e.(policy.Linker)
	k.persistent, _ = e.(policy.Persistent)
	k.panel, _ = e.(policy.Panel)
	k.forecaster, _ = e.(policy.Forecaster)
	return k
}

func (k *keeper) arrive(topic policy.TopicID, at policy.Tick) {
	if k.arriver != nil {
		k.arriver.Arrive(topic, at)
	}
}

// link makes child depend on parent where the policy follows dependencies.
func (k *keeper) link(child, parent policy.ID) {
	if k.linker != nil && parent != child && k.ledger.Has(parent) {
		k.linker.Link(child, parent)
	}
}

// weights returns the importances of an entry and of its parent: an access changes these two.
func (k *keeper) weights(r *resident) (w [2]Weight) {
	if k.linker == nil {
		return w
	}
	if k.ledger.Has(r.ID) {
		w[0] = Weight{r.ID, k.linker.Importance(r.ID)}
	}
	if p := k.parent(r); k.ledger.Has(p) {
		w[1] = Weight{p, k.linker.Importance(p)}
	}
	return w
}

// parent returns the parent of r in the policy, or its parent at Put if the policy exports none.
func (k *keeper) parent(r *resident) policy.ID {
	if k.persistent != nil {
		if st, ok := k.persistent.ExportEntry(r.ID); ok {
			return st.Parent
		}
	}
	return r.Parent
}

func (k *keeper) importance(id policy.ID) float64 {
	if k.linker == nil {
		return 0
	}
	return k.linker.Importance(id)
}

func (k *keeper) entryState(id policy.ID) (st policy.EntryState, ok bool) {
	if k.persistent == nil {
		return st, false
	}
	ok = spared(func() (ok bool) { st, ok = k.persistent.ExportEntry(id); return ok })
	return st, ok
}

func (k *keeper) topicState(id policy.TopicID) (st policy.TopicState, ok bool) {
	if k.persistent == nil {
		return st, false
	}
	ok = spared(func() (ok bool) { st, ok = k.persistent.ExportTopic(id); return ok })
	return st, ok
}

// snapshot returns the learned state of the policy; false if it has none.
func (k *keeper) snapshot() (body []byte, ok bool) {
	if k.panel == nil {
		return nil, false
	}
	ok = spared(func() bool { body = k.panel.Snapshot(); return true })
	return body, ok
}

// panelStats returns nil if the policy has no experts.
func (k *keeper) panelStats() *policy.PanelStats {
	var st policy.PanelStats
	if k.panel == nil || !spared(func() bool { st = k.panel.Stats(); return true }) {
		return nil
	}
	return &st
}

// spared calls an export of the policy, and returns false if it panics: the request that first called the faulty policy has reported it, and a
// panic in the writer would end the process.
func spared(export func() bool) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return export()
}

// Ranks reads the order in which the policy of a store evicts. It changes nothing.
type Ranks struct{ s *Store }

// Ranks returns the view of the policy.
func (s *Store) Ranks() Ranks { return Ranks{s} }

// Next is an entry that the policy evicts soon.
type Next struct {
	ID  policy.ID
	Why string // as policy.Forecaster has it
}

// Next returns the entries that the policy evicts next if there is no request in between, most at most; false if the policy cannot say. A
// policy that must compare all entries does so in slices of policy.ForecastStep, and no lock is held between them.
func (r Ranks) Next(most int) (next []Next, says bool) {
	k, f := &r.s.core.keeper, policy.NewForecast(most)
	if k.forecaster == nil {
		return nil, false
	}
	calls := 2 + r.s.Stats().Entries/policy.ForecastStep // of a policy that changes meanwhile there may be no end
	for from := 0; calls > 0; calls-- {
		if says = r.read(func() bool { from = k.forecaster.Forecast(f, from); return true }); !says || from == 0 {
			break
		}
	}
	for _, id := range f.Next() {
		var why string
		if r.read(func() bool { why = k.forecaster.Why(id); return why != "" }) {
			next = append(next, Next{id, why})
		}
	}
	return next, says
}

// Prevalences returns the prevalences of some topics as the policy has them, 0 for one that it does not know: counts of requests that halve
// over time. It returns false if the policy keeps none.
func (r Ranks) Prevalences(of []policy.TopicID) (all []float64, kept bool) {
	p := r.s.core.keeper.persistent
	if p == nil {
		return nil, false
	}
	for part := range slices.Chunk(of, batchLocked) {
		kept := r.read(func() bool {
			for _, id := range part {
				prevalence := 0.0
				if st, ok := p.ExportTopic(id); ok {
					prevalence = math.Exp2(st.LogW)
				}
				all = append(all, prevalence)
			}
			return true
		})
		if !kept {
			return nil, false
		}
	}
	return all, true
}

// Importance returns the structural importance of an entry, 0 if the policy has none.
func (r Ranks) Importance(id policy.ID) float64 {
	r.s.mu.RLock()
	defer r.s.mu.RUnlock()
	return r.s.core.keeper.importance(id)
}

// read calls an export under the lock for readers.
func (r Ranks) read(export func() bool) bool {
	r.s.mu.RLock()
	defer r.s.mu.RUnlock()
	return spared(export)
}
