package policy

// Panel is a policy that is made of experts. Only Restore changes anything.
type Panel interface {
	// Stats is how the experts do at present.
	Stats() PanelStats
	// Snapshot is what was learned, without any entry: some 10 kB.
	Snapshot() []byte
	// Restore brings back a snapshot of the same experts, at any capacity. It is to follow the entries. An error is
	// ErrSnapshot, and then nothing has changed.
	Restore(snapshot []byte) error
}

// PanelStats are the figures of a panel.
type PanelStats struct {
	Experts []ExpertStats // in a fixed order
	Bytes   int64         // an estimate of the memory in use
}

// ExpertStats are the figures of one expert of a panel.
type ExpertStats struct {
	Name     string
	Weight   float64 // of its vote, from 0 to 1, the leader's being 1; in a large cache 1 for the leader and else 0
	HitRatio float64 // that its shadow cache would have had since the start; of the tokens under a limit in bytes
	Entries  int     // in its shadow cache
}

var (
	_ Panel = (*RACPlus)(nil)
	_ Panel = (*RACPlusLarge)(nil)
)

// Stats is how the experts do.
func (p *RACPlus) Stats() PanelStats {
	w := make([]float64, len(p.experts))
	weights(p.experts, &p.loyalty, w)
	return PanelStats{p.stats(func(i int) float64 { return w[i] }), p.memory() + p.ids.memory()}
}

// Snapshot is what was learned.
func (p *RACPlus) Snapshot() []byte { return p.snapshot() }

// Restore brings back a snapshot.
func (p *RACPlus) Restore(snapshot []byte) error {
	p.victim = 0
	return p.restore(snapshot)
}

// Stats is how the experts do in the small shadows.
func (p *RACPlusLarge) Stats() PanelStats {
	return PanelStats{p.mini.stats(func(i int) float64 {
		if i == p.leads {
			return 1
		}
		return 0
	}), p.bytesUsed()}
}

func (p *RACPlusLarge) bytesUsed() int64 {
	b := p.mini.memory() + p.ids.memory() + p.keys.memory() + largeEntryBytes*int64(cap(p.cells))
	b += evictorBytes(p.leader.evictor, p.ids.n)
	if p.filling != 0 {
		b += evictorBytes(p.heir.evictor, p.ids.n)
	}
	return b
}

// Snapshot is what the small experts have learned.
func (p *RACPlusLarge) Snapshot() []byte { return p.mini.snapshot() }

// Restore brings back a snapshot. The expert that led takes over at once: no request waits for it yet.
func (p *RACPlusLarge) Restore(snapshot []byte) error {
	if err := p.mini.restore(snapshot); err != nil {
		return err
	}
	inherit(p.leader.evictor, p.mini.experts[p.leads].evictor)
	if led := p.mini.loyalty.leader; led != p.leads {
		p.prepare(led)
	}
	for p.filling != 0 {
		p.fill()
	}
	return nil
}

func (p *shadows) stats(weight func(int) float64) (all []ExpertStats) {
	for i := range p.experts {
		x := &p.experts[i]
		s := ExpertStats{Name: x.name, Weight: weight(i), Entries: x.entries}
		if x.asked > 0 {
			s.HitRatio = x.hits / x.asked
		}
		all = append(all, s)
	}
	return all
}

const (
	panelEntryBytes = 80
	largeEntryBytes = 88
	hazEntryBytes   = 80
	hazTopicBytes   = 48
	tableSlotBytes  = 16
)

func (p *shadows) memory() int64 {
	b := p.keys.memory() + panelEntryBytes*int64(cap(p.cells))
	for i := range p.experts {
		b += evictorBytes(p.experts[i].evictor, p.experts[i].entries)
	}
	return b
}

// sizer is a policy that knows its memory.
type sizer interface{ memory() int64 }

// evictorBytes is what e with n entries takes, or what a policy with ghosts takes at most.
func evictorBytes(e Evictor, n int) int64 {
	if s, ok := e.(sizer); ok {
		return s.memory()
	}
	const guess = 150
	return guess * int64(n)
}

func (h *HAZ) memory() int64 {
	return hazEntryBytes*int64(cap(h.cells)) + hazTopicBytes*int64(cap(h.topics.all)) + 4*int64(cap(h.residents)) +
		h.ids.memory() + h.keys.memory() + h.topics.index.memory()
}

// memory of a table of numbers of 4 bytes.
func (t *table[V]) memory() int64 { return tableSlotBytes * int64(len(t.slots)) }
