package panel

import (
	"math"

	"reprise/internal/container"
)

// votes finds the entry to evict. The residents are in one list for each set of experts that hold them, what came into it last
// at the head. A set counts as its experts do: the leader for more than all others together, and each of these for more than all who
// are less ahead.
type votes struct {
	lists []container.Queue
	ranks []uint32 // of each expert: a power of two
}

func newVotes(experts int) votes {
	return votes{lists: make([]container.Queue, 1<<experts), ranks: make([]uint32, experts)}
}

// list is that of the residents which exactly these experts hold.
func (v *votes) list(set uint16) *container.Queue { return &v.lists[set] }

// order ranks the experts: the leader first, the others by how far they are ahead, ties in the order of the panel.
func (v *votes) order(l *lazy) {
	for i := range v.ranks {
		above := 0
		for j := range v.ranks {
			if j != i && l.before(j, i) {
				above++
			}
		}
		v.ranks[i] = 1 << (len(v.ranks) - 1 - above)
	}
}

// rank is what the experts of set count together.
func (v *votes) rank(set int) (sum uint32) {
	for i, r := range v.ranks {
		if set>>i&1 != 0 {
			sum += r
		}
	}
	return sum
}

// least is the oldest entry of the set that counts least; 0 if there is no entry at all.
func (v *votes) least() (victim uint32) {
	low := uint32(math.MaxUint32)
	for set := range v.lists {
		if tail := v.lists[set].Tail; tail != 0 {
			if r := v.rank(set); r < low {
				victim, low = tail, r
			}
		}
	}
	return victim
}
