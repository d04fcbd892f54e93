package store

import "reprise/policy"

// keeper is the policy with its ledger. Roles that a policy does not have are nil.
type keeper struct {
	evictor    policy.Evictor
	ledger     *policy.Ledger
	arriver    policy.Arriver
	linker     policy.Linker
	persistent policy.Persistent
	panel      policy.Panel
}

func newKeeper(e policy.Evictor, limit policy.Limit) keeper {
	k := keeper{evictor: e, ledger: policy.NewLedger(e, limit)}
	k.arriver, _ = e.(policy.Arriver)
	k.linker, _ = e.(policy.Linker)
	k.persistent, _ = e.(policy.Persistent)
	k.panel, _ = e.(policy.Panel)
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
