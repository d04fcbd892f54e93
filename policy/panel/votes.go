package panel

import (
	"math"
	"math/bits"

	"reprise/policy/internal/container"
)

// votes finds the entry with the lowest total weight of the experts that still hold it. The residents are in one list for
// each set of experts that hold them, what came into it last at the head.
type votes struct {
	weights []float64
	lists   []container.Queue
	some    []uint64 // one bit for each list that is not empty
	low     [16]float64
	high    [16]float64 // sums of weights over four experts each
}

func newVotes(experts int) votes {
	n := 1 << experts
	return votes{weights: make([]float64, experts), lists: make([]container.Queue, n), some: make([]uint64, (n+63)/64)}
}

// list is that of the residents which exactly these experts hold.
func (v *votes) list(set uint16) *container.Queue { return &v.lists[set] }

// mark notes whether a list that has changed is empty.
func (v *votes) mark(set uint16) {
	if v.lists[set].Len > 0 {
		v.some[set/64] |= 1 << (set % 64)
	} else {
		v.some[set/64] &^= 1 << (set % 64)
	}
}

// count turns the scores into weights.
func (v *votes) count(experts []expert, leader int) {
	weights(experts, leader, v.weights)
	half := min(4, len(experts))
	v.low, v.high = sums(v.weights[:half]), sums(v.weights[half:])
}

// weights are those of the experts: the leader's is more than all others together, and these are near winner-take-all.
func weights(experts []expert, leader int, into []float64) {
	best := 0.0
	for i := range experts {
		best = max(best, experts[i].score)
	}
	for i := range experts {
		into[i] = math.Exp(-100 * (best - experts[i].score) / (best + 5))
	}
	into[leader] = float64(len(experts))
}

// sums are the sums of all subsets of up to four weights.
func sums(weights []float64) (s [16]float64) {
	for set := range s {
		for i, w := range weights {
			if set>>i&1 != 0 {
				s[set] += w
			}
		}
	}
	return s
}

// least is the oldest entry of the set with the least weight; 0 if there is no entry at all.
func (v *votes) least(s *container.Slots[uint64, entry]) (victim uint32) {
	low := math.Inf(1)
	for i, word := range v.some {
		for ; word != 0; word &= word - 1 {
			set := 64*i + bits.TrailingZeros64(word)
			e := v.lists[set].Tail
			w := v.low[set&15] + v.high[set>>4]
			if w < low || w == low && s.At(e).used < s.At(victim).used {
				victim, low = e, w
			}
		}
	}
	return victim
}
