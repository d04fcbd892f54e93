package store

import (
	"math"
	"slices"

	"reprise/policy"
)

// keeper is the policy with its ledger. Roles that a policy does not have are nil.
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

// weights are the importances of an entry and of its parent, the two that an access changes.
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

// parent is the parent as the policy has it now, or as it was at Put where the policy exports none.
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
	return exported(k.persistent.ExportEntry, id)
}

func (k *keeper) topicState(id policy.TopicID) (st policy.TopicState, ok bool) {
	if k.persistent == nil {
		return st, false
	}
	return exported(k.persistent.ExportTopic, id)
}

// snapshot is the learned state of the policy; false where it has none.
func (k *keeper) snapshot() ([]byte, bool) {
	if k.panel == nil {
		return nil, false
	}
	return exported(func(struct{}) ([]byte, bool) { return k.panel.Snapshot(), true }, struct{}{})
}

// panelStats are nil where the policy has no experts.
func (k *keeper) panelStats() *policy.PanelStats {
	if k.panel == nil {
		return nil
	}
	st, ok := exported(func(struct{}) (policy.PanelStats, bool) { return k.panel.Stats(), true }, struct{}{})
	if !ok {
		return nil
	}
	return &st
}

// exported calls an export of the policy. A panic there means that nothing is exported: the request that first called the
// faulty policy has reported it, and the writing goroutine must not end the process.
func exported[I, T any](export func(I) (T, bool), id I) (state T, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return export(id)
}

// Ranks is what the policy of a store says of its entries and topics, for a caller that shows it. It changes nothing.
type Ranks struct{ s *Store }

// RanksOf is that of s.
func RanksOf(s *Store) Ranks { return Ranks{s} }

// Next is an entry that is evicted soon.
type Next struct {
	ID  policy.ID
	Why string // as policy.Forecaster has it
}

// Next are the entries that the policy evicts next, most at most, if there is no request in between; false where it does not say. A policy
// that must compare all for it does so in slices of policy.ForecastStep, and no lock is held between them.
func (r Ranks) Next(most int) (next []Next, says bool) {
	k, f := &r.s.core.keeper, policy.NewForecast(most)
	if k.forecaster == nil {
		return nil, false
	}
	calls := 2 + r.s.Stats().Entries/policy.ForecastStep // of a policy that changes meanwhile there may be no end
	for from := 0; calls > 0; calls-- {
		if from, says = underRLock(r.s, k.forecast, forecastFrom{f, from}); !says || from == 0 {
			break
		}
	}
	for _, id := range f.Next() {
		if why, ok := underRLock(r.s, k.why, id); ok && why != "" {
			next = append(next, Next{id, why})
		}
	}
	return next, says
}

// Prevalences are the prevalences of some topics as the policy has them, 0 of one that it does not know: counts of requests that halve over
// time. false where the policy keeps none.
func (r Ranks) Prevalences(of []policy.TopicID) (all []float64, kept bool) {
	k := &r.s.core.keeper
	if k.persistent == nil {
		return nil, false
	}
	for part := range slices.Chunk(of, batchLocked) {
		some, ok := underRLock(r.s, k.prevalences, part)
		if !ok {
			return nil, false
		}
		all = append(all, some...)
	}
	return all, true
}

// forecastFrom is a call of Forecast.
type forecastFrom struct {
	to   *policy.Forecast
	from int
}

func (k *keeper) forecast(x forecastFrom) (next int, ok bool) {
	return k.forecaster.Forecast(x.to, x.from), true
}

func (k *keeper) why(id policy.ID) (string, bool) { return k.forecaster.Why(id), true }

func (k *keeper) prevalences(of []policy.TopicID) (all []float64, ok bool) {
	all = make([]float64, len(of))
	for i, id := range of {
		if st, ok := k.persistent.ExportTopic(id); ok {
			all[i] = math.Exp2(st.LogW)
		}
	}
	return all, true
}

// underRLock is exported under the lock for readers.
func underRLock[I, T any](s *Store, export func(I) (T, bool), of I) (T, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return exported(export, of)
}
