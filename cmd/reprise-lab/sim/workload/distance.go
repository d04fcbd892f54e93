package workload

// reuse counts the reuses of the items of a trace.
type reuse struct {
	unique, reuses int
	long           int // reuses of stack distance >= the capacity: the misses of LRU in addition to the first requests
}

// ratio is the share of the reuses that are long (paper 002 §4.2). The normalized hit ratio of LRU is 1 minus it.
func (r reuse) ratio() float64 {
	if r.reuses == 0 {
		return 0
	}
	return float64(r.long) / float64(r.reuses)
}

// measure counts the reuses at a capacity, in O(n log n). The stack distance of one is the number of distinct items
// requested since the item itself.
func measure(ids []uint64, capacity int) (r reuse) {
	for _, d := range distances(ids) {
		if d < 0 {
			r.unique++
			continue
		}
		r.reuses++
		if d >= capacity {
			r.long++
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
