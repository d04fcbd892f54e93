package panel

import (
	"math"
	"math/bits"

	"reprise/policy/internal/container"
)

// votes finds the entry for which the least weight speaks. The residents are in one list for each set of experts that
// hold them, the last that came under it at the head.
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

func (b *votes) list(cells []panelEntry, e uint32) {
	x := &cells[e]
	q := &b.lists[x.set]
	x.prev, x.next = 0, q.Head
	if q.Head != 0 {
		cells[q.Head].prev = e
	} else {
		q.Tail = e
	}
	q.Head = e
	q.Len++
	b.some[x.set/64] |= 1 << (x.set % 64)
}

func (b *votes) unlist(cells []panelEntry, e uint32) {
	x := &cells[e]
	q := &b.lists[x.set]
	if x.prev != 0 {
		cells[x.prev].next = x.next
	} else {
		q.Head = x.next
	}
	if x.next != 0 {
		cells[x.next].prev = x.prev
	} else {
		q.Tail = x.prev
	}
	x.prev, x.next = 0, 0
	if q.Len--; q.Len == 0 {
		b.some[x.set/64] &^= 1 << (x.set % 64)
	}
}

// count turns the scores into weights.
func (b *votes) count(experts []expert, l *hysteresis) {
	l.chooseLeader(experts)
	weights(experts, l, b.weights)
	half := min(4, len(experts))
	b.low, b.high = sums(b.weights[:half]), sums(b.weights[half:])
}

// weights are those of the experts under the leader that l has elected.
func weights(experts []expert, l *hysteresis, into []float64) {
	best := experts[l.leader].score
	for i := range experts {
		behind := 0.0
		if i != l.leader {
			behind = max(best-experts[i].score, 0)/(best+5) + l.margin
		}
		into[i] = math.Exp(-100 * behind)
	}
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
func (b *votes) least(cells []panelEntry) (victim uint32) {
	low := math.Inf(1)
	for i, word := range b.some {
		for ; word != 0; word &= word - 1 {
			set := 64*i + bits.TrailingZeros64(word)
			e := b.lists[set].Tail
			w := b.low[set&15] + b.high[set>>4]
			if w < low || w == low && cells[e].used < cells[victim].used {
				victim, low = e, w
			}
		}
	}
	return victim
}
