package study

import (
	"slices"

	"reprise/cmd/reprise-lab/sim"
	"reprise/cmd/reprise-lab/sim/workload"
)

// meanSize is the mean size of the answers of generated requests, in bytes.
const meanSize = 2200

// regimes returns the settings of all regimes, in all readings.
func (l *lab) regimes(all []workload.Regime, policies []string) (settings []setting) {
	for _, r := range all {
		if l.Shrink > 1 && r.Name != "syn .5" && r.Name != "lru" && r.Name != "syn" {
			continue
		}
		for i, spec := range r.Specs() {
			name := r.Name
			if len(r.Weights) > 1 {
				name += " " + r.Weights[i]
			}
			settings = append(settings, l.generated(name, spec, policies, sim.Capacity{Entries: r.Capacity}))
		}
	}
	return settings
}

// inBytes is the setting at a capacity in bytes: one in entries becomes room for as many mean answers, a share one of the bytes. The bounds are
// left out, as they are of hits.
func (s setting) inBytes() setting {
	s.bytes, s.capacities = true, slices.Clone(s.capacities)
	s.policies = slices.DeleteFunc(slices.Clone(s.policies), func(p string) bool { return slices.Contains(bounds, p) })
	for i, c := range s.capacities {
		if c.Entries > 0 {
			s.capacities[i] = sim.Capacity{Bytes: int64(c.Entries) * meanSize}
		}
	}
	if s.known != "" {
		s.known += " in bytes"
	}
	return s
}

// settings returns those of a part of the study of regimes.
func (l *lab) settings(p slot) (all []setting, err error) {
	switch p.part {
	case "regimes": // with the policies of RQ1, which plays some of these too
		all = l.regimes(workload.Study(), l.contenders())
	case "long":
		all = l.regimes(workload.Long(), append(l.compared(), "belady"))
	case "texts":
		all, err = l.texts(true, shares(2.5, 10, 20))
	case "traces":
		all = l.recorded(traceFiles(l.Data))
	case "blocks":
		all = l.recorded(blocksFiles(l.Data))
	}
	if p.bytes {
		for i := range all {
			all[i] = all[i].inBytes()
		}
	}
	return all, err
}

// comparison has the rows of what was played: hit ratios, or shares of the tokens saved under a capacity in bytes.
type comparison struct {
	rows     map[slot][]Row
	policies []string // that are compared
	designs  []string // of these, the given ones
}

// playSlots plays parts in order, until one fails.
func (l *lab) playSlots(all []slot) (comparison, error) {
	c := comparison{map[slot][]Row{}, l.compared(), l.Designs}
	for _, p := range all {
		settings, err := l.settings(p)
		if err != nil {
			return c, err
		}
		figure := HitRatio
		if p.bytes {
			figure = TokensSaved
		}
		out, err := l.play(p.String(), settings)
		if c.rows[p] = allRows(out, figure); err != nil {
			return c, err
		}
	}
	return c, nil
}
