package panel

import (
	"slices"

	"reprise/policy"
)

var (
	_ policy.Panel = (*Full)(nil)
	_ policy.Panel = (*Sampled)(nil)
)

// Stats is how the experts do.
func (p *Full) Stats() policy.PanelStats {
	w := make([]float64, len(p.experts))
	weights(p.experts, p.lazy.leader, w)
	return policy.PanelStats{Experts: p.stats(func(i int) float64 { return w[i] }), Leader: p.lazy.leader, Changed: p.lazy.changed, Changes: slices.Clone(p.lazy.changes), Bytes: p.memory() + p.ids.Bytes(),
		Asked: p.experts[0].asked, Hits: p.hits}
}

// Snapshot is what was learned.
func (p *Full) Snapshot() []byte { return p.snapshot() }

// Restore brings back a snapshot.
func (p *Full) Restore(snapshot []byte) error {
	p.victim = 0
	return p.restore(snapshot)
}

// Stats is how the experts do in the small shadows.
func (p *Sampled) Stats() policy.PanelStats {
	return policy.PanelStats{Experts: p.mini.stats(func(i int) float64 {
		if i == p.leads {
			return 1
		}
		return 0
	}), Leader: p.leads, Changed: p.mini.lazy.changed, Changes: slices.Clone(p.mini.lazy.changes), Bytes: p.bytesUsed(), Asked: p.mini.experts[0].asked, Hits: p.mini.hits}
}

func (p *Sampled) bytesUsed() int64 {
	b := p.mini.memory() + p.ids.Bytes() + p.slots.Bytes(residentBytes)
	b += evictorBytes(p.leader.evictor, p.ids.Len())
	if p.copying != 0 {
		b += evictorBytes(p.successor.evictor, p.ids.Len())
	}
	return b
}

// Snapshot is what the small experts have learned.
func (p *Sampled) Snapshot() []byte { return p.mini.snapshot() }

// Restore brings back a snapshot. The expert that led takes over at once: no request waits for it yet.
func (p *Sampled) Restore(snapshot []byte) error {
	if err := p.mini.restore(snapshot); err != nil {
		return err
	}
	inherit(p.leader.evictor, p.mini.experts[p.leads].evictor)
	if led := p.mini.lazy.leader; led != p.leads {
		p.startSuccessor(led)
	}
	for p.copying != 0 {
		p.fill()
	}
	return nil
}

func (p *shadows) stats(weight func(int) float64) (all []policy.ExpertStats) {
	for i := range p.experts {
		x := &p.experts[i]
		s := policy.ExpertStats{Name: x.name, Weight: weight(i), Entries: x.entries, Asked: x.asked, Hits: x.hits, Led: p.lazy.led[i]}
		if x.asked > 0 {
			s.HitRatio = x.hits / x.asked
		}
		all = append(all, s)
	}
	return all
}

const (
	entryBytes    = 80
	residentBytes = 80
)

func (p *shadows) memory() int64 {
	b := p.slots.Bytes(entryBytes)
	for i := range p.experts {
		b += evictorBytes(p.experts[i].evictor, p.experts[i].entries)
	}
	return b
}

// sizer is a policy that reports its memory.
type sizer interface{ Bytes() int64 }

// evictorBytes is what e with n entries takes, or what a policy with ghosts takes at most.
func evictorBytes(e policy.Evictor, n int) int64 {
	if s, ok := e.(sizer); ok {
		return s.Bytes()
	}
	const guess = 150
	return guess * int64(n)
}
