package panel

import (
	"slices"

	"reprise/policy"
)

var (
	_ policy.Panel = (*full)(nil)
	_ policy.Panel = (*sampled)(nil)
)

// Stats returns the figures of the experts.
func (p *full) Stats() policy.PanelStats { return p.stats(p.memory() + p.ids.Bytes()) }

// Snapshot returns what the experts have learned.
func (p *full) Snapshot() []byte { return p.snapshot() }

// Restore brings back a snapshot.
func (p *full) Restore(snapshot []byte) error {
	p.victim = 0
	return p.restore(snapshot)
}

// Stats returns the figures of the experts in the small shadows.
func (p *sampled) Stats() policy.PanelStats {
	return p.mini.stats(p.full.memory() + p.ids.Bytes() + p.mini.memory())
}

// Snapshot returns what the experts of the small shadows have learned.
func (p *sampled) Snapshot() []byte { return p.mini.snapshot() }

// Restore brings back a snapshot. The expert that led takes over with all residents: no request waits for it yet.
func (p *sampled) Restore(snapshot []byte) error {
	if err := p.mini.restore(snapshot); err != nil {
		return err
	}
	led := p.mini.lazy.leader
	if led == p.leads {
		inherit(p.experts[0].evictor, p.mini.experts[led].evictor)
		return nil
	}
	p.follow(led)
	p.fill()
	return nil
}

func (p *shadows) stats(bytes int64) policy.PanelStats {
	s := policy.PanelStats{Leader: p.lazy.leader, Changed: p.lazy.changed, Changes: slices.Clone(p.lazy.changes), Bytes: bytes, Asked: p.experts[0].asked, Hits: p.hits}
	for i := range p.experts {
		x := &p.experts[i]
		e := policy.ExpertStats{Name: x.name, Entries: x.entries, Asked: x.asked, Hits: x.hits, Led: p.lazy.led[i]}
		if x.asked > 0 {
			e.HitRatio = x.hits / x.asked
		}
		s.Experts = append(s.Experts, e)
	}
	return s
}

const entryBytes = 80

func (p *shadows) memory() int64 {
	b := p.slots.Bytes(entryBytes)
	for i := range p.experts {
		b += evictorBytes(p.experts[i].evictor, p.experts[i].entries)
	}
	return b
}

// sizer is a policy that reports its memory.
type sizer interface{ Bytes() int64 }

// evictorBytes returns the memory of e with n entries: its own figure, or an upper estimate for policies with ghosts.
func evictorBytes(e policy.Evictor, n int) int64 {
	if s, ok := e.(sizer); ok {
		return s.Bytes()
	}
	const guess = 150
	return guess * int64(n)
}
