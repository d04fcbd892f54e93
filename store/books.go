package store

import "reprise/policy"

// books is the policy with its ledger. Roles that a policy does not have are nil.
type books struct {
	evictor    policy.Evictor
	ledger     *policy.Ledger
	arriver    policy.Arriver
	linker     policy.Linker
	persistent policy.Persistent
	panel      policy.Panel
}

func newBooks(e policy.Evictor, limit policy.Limit) books {
	b := books{evictor: e, ledger: policy.NewLedger(e, limit)}
	b.arriver, _ = e.(policy.Arriver)
	b.linker, _ = e.(policy.Linker)
	b.persistent, _ = e.(policy.Persistent)
	b.panel, _ = e.(policy.Panel)
	return b
}

func (b *books) arrive(topic policy.TopicID, at policy.Tick) {
	if b.arriver != nil {
		b.arriver.Arrive(topic, at)
	}
}

// link makes child depend on parent where the policy follows dependencies.
func (b *books) link(child, parent policy.ID) {
	if b.linker != nil && parent != child && b.ledger.Has(parent) {
		b.linker.Link(child, parent)
	}
}

// weights are the importances of an entry and of its parent, the two that an access changes.
func (b *books) weights(r *resident) (w [2]Weight) {
	if b.linker == nil {
		return w
	}
	if b.ledger.Has(r.ID) {
		w[0] = Weight{r.ID, b.linker.Importance(r.ID)}
	}
	if p := b.parent(r); b.ledger.Has(p) {
		w[1] = Weight{p, b.linker.Importance(p)}
	}
	return w
}

// parent is the parent as the policy has it now, or as it was at Put where the policy exports none.
func (b *books) parent(r *resident) policy.ID {
	if b.persistent != nil {
		if st, ok := b.persistent.ExportEntry(r.ID); ok {
			return st.Parent
		}
	}
	return r.Parent
}

func (b *books) importance(id policy.ID) float64 {
	if b.linker == nil {
		return 0
	}
	return b.linker.Importance(id)
}

func (b *books) entryState(id policy.ID) (st policy.EntryState, ok bool) {
	if b.persistent == nil {
		return st, false
	}
	return exported(b.persistent.ExportEntry, id)
}

func (b *books) topicState(id policy.TopicID) (st policy.TopicState, ok bool) {
	if b.persistent == nil {
		return st, false
	}
	return exported(b.persistent.ExportTopic, id)
}

// snapshot is what the policy has learned; false where it learns nothing.
func (b *books) snapshot() ([]byte, bool) {
	if b.panel == nil {
		return nil, false
	}
	return exported(func(struct{}) ([]byte, bool) { return b.panel.Snapshot(), true }, struct{}{})
}

// panelStats are nil where the policy has no experts.
func (b *books) panelStats() *policy.PanelStats {
	if b.panel == nil {
		return nil
	}
	st, ok := exported(func(struct{}) (policy.PanelStats, bool) { return b.panel.Stats(), true }, struct{}{})
	if !ok {
		return nil
	}
	return &st
}

// exported calls an export of the policy. A panic there means that nothing is exported: the request that first met the
// broken policy has reported it, and the writing goroutine must not end the process.
func exported[I, T any](export func(I) (T, bool), id I) (state T, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return export(id)
}

// full reports whether one more entry of some size would exceed the limit.
func (b *books) full(limit policy.Limit, size int64) bool {
	return limit.Entries > 0 && b.ledger.Entries() >= limit.Entries || limit.Bytes > 0 && b.ledger.Bytes()+size > limit.Bytes
}
