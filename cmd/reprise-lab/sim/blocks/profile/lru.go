package profile

import (
	"math"

	"reprise/cmd/reprise-lab/sim/mrc"
)

// LRU is the hit ratio of LRU by capacity.
type LRU struct {
	Rate    float64 `json:"sample"` // share of the blocks that was followed; 1: exact
	Sampled int     `json:"sampled_blocks"`
	Curve   []Room  `json:"curve"`
	// Most is the least capacity in blocks with 90 % of the ideal hit ratio, and MostShare its share of the distinct blocks.
	Most      int64   `json:"blocks_for_90"`
	MostShare float64 `json:"share_for_90"`
	// Capacities are those of Window.LRU, in blocks: a hundredth, a tenth and a half of the distinct ones.
	Capacities []int `json:"window_capacities"`
}

// Room is the hit ratio at a capacity.
type Room struct {
	Share    float64 `json:"share"` // of the distinct blocks
	Blocks   int     `json:"blocks"`
	HitRatio float64 `json:"block_hit_ratio"`
}

// rooms are the shares of the distinct blocks of a curve.
var rooms = []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 1}

func blocksOf(share float64, distinct int) int {
	return max(1, int(math.Round(share*float64(distinct))))
}

// lru makes the curve, and sets the hit ratios of the windows.
func (p *summary) lru(o *Options, ideal float64) (*LRU, error) {
	n := p.distinct()
	out := &LRU{}
	for _, share := range []float64{0.01, 0.1, 0.5} {
		if c := blocksOf(share, n); len(out.Capacities) == 0 || c > out.Capacities[len(out.Capacities)-1] {
			out.Capacities = append(out.Capacities, c)
		}
	}
	c, err := mrc.Blocks(p.trace, mrc.Options{Rate: o.Sample, Least: o.least(), Seed: o.Seed, Capacities: out.Capacities, Window: p.width})
	if err != nil {
		return nil, err
	}
	out.Rate, out.Sampled = c.Rate, c.Sampled
	for _, share := range rooms {
		blocks := blocksOf(share, n)
		if k := len(out.Curve); k > 0 && out.Curve[k-1].Blocks == blocks {
			continue // of a trace with few blocks
		}
		out.Curve = append(out.Curve, Room{share, blocks, c.HitRatio(float64(blocks))})
	}
	out.Most, _ = c.Capacity(0.9 * ideal)
	out.MostShare = float64(out.Most) / float64(max(1, n))
	for i := range p.windows {
		w := &p.windows[i]
		w.LRU = make([]float64, len(out.Capacities))
		for k := range out.Capacities {
			if w.Blocks > 0 {
				w.LRU[k] = c.Windows[i].Hits[k] / float64(w.Blocks)
			}
		}
	}
	return out, nil
}

// least is the least sample.
func (o *Options) least() int {
	if o.Sample == 0 {
		return 0
	}
	return leastSample
}
