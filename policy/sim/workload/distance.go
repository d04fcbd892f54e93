package workload

import "reprise/policy/sim"

// Reuse counts how a trace comes back to its items.
type Reuse struct {
	Unique, Reuses int
	Long           int // reuses of stack distance >= the capacity: the misses of LRU beside the first ones
}

// Ratio is the share of the reuses that are long (paper 002 §4.2). The normalized hit ratio of LRU is 1 minus it.
func (r Reuse) Ratio() float64 {
	if r.Reuses == 0 {
		return 0
	}
	return float64(r.Long) / float64(r.Reuses)
}

// LongRatio is the share of the reuses in all whose stack distance, the number of distinct items requested since the item
// itself, is at least capacity. It takes O(n log n).
func LongRatio(all []sim.Request, capacity int) float64 { return Measure(all, capacity).Ratio() }

// Measure counts the reuses in all at a capacity.
func Measure(all []sim.Request, capacity int) Reuse {
	ids := make([]uint64, len(all))
	for i := range all {
		ids[i] = all[i].ID
	}
	return measure(ids, capacity)
}

func measure(ids []uint64, capacity int) (r Reuse) {
	for _, d := range distances(ids) {
		if d < 0 {
			r.Unique++
			continue
		}
		r.Reuses++
		if d >= capacity {
			r.Long++
		}
	}
	return r
}

// distances is the stack distance of each request, -1 for the first of an item (Bennett and Kruskal 1975).
func distances(ids []uint64) []int {
	latest := newFenwick(len(ids)) // 1 at each place that is the latest of its item
	last := make(map[uint64]int, len(ids))
	out := make([]int, len(ids))
	for i, id := range ids {
		out[i] = -1
		if k, ok := last[id]; ok {
			out[i] = len(last) - latest.below(k+1)
			latest.add(k, -1)
		}
		latest.add(i, 1)
		last[id] = i
	}
	return out
}

// fenwick keeps sums over prefixes, each call in O(log n).
type fenwick []int32

func newFenwick(n int) fenwick { return make(fenwick, n+1) }

func (f fenwick) add(i int, d int32) {
	for i++; i < len(f); i += i & -i {
		f[i] += d
	}
}

// below is the sum over the places before i.
func (f fenwick) below(i int) (sum int) {
	for ; i > 0; i -= i & -i {
		sum += int(f[i])
	}
	return sum
}
