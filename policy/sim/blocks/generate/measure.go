package generate

import (
	"slices"

	"reprise/policy/sim/blocks"
)

// measure is the statistics of the prompts' blocks of a trace for an infinite cache and for LRU.
type measure struct {
	trace    *blocks.Trace
	accesses []int // by kind
	hits     []int // of an infinite cache, by kind
	same     int   // hits on blocks that the same session touched last
	distinct int
	depth    []int // hits by LRU stack distance
	gaps     [][]weighted
	seen     []touches // by block
	latest   []int32   // by block: number of the last request with it, from 1
	live     fenwick   // by request: blocks that no later one has
}

// weighted is a value that a number of blocks have.
type weighted struct {
	value float64
	n     int
}

// touches is how often prompts had a block, and when.
type touches struct {
	n           int32
	kind        uint16 // of the first
	first, last float64
}

// newMeasure reads the trace once. The stack distance of a block is exact: a request touches its chain from the deepest block, so that all
// blocks of a chain that one request touched last lie side by side in the stack, and one sum over later requests serves them all.
func newMeasure(t *blocks.Trace) *measure {
	m := &measure{
		trace: t, accesses: make([]int, len(t.Kinds)), hits: make([]int, len(t.Kinds)), gaps: make([][]weighted, len(t.Kinds)),
		depth: make([]int, t.Distinct), seen: make([]touches, t.Distinct), latest: make([]int32, t.Distinct),
		live: make(fenwick, len(t.Requests)+1),
	}
	for i := range t.Requests {
		m.request(i)
	}
	return m
}

func (m *measure) request(i int) {
	r := &m.trace.Requests[i]
	m.accesses[r.Kind] += len(r.Blocks)
	for chain := r.Blocks; len(chain) > 0; {
		run := m.run(chain)
		if from := m.latest[chain[0]]; from > 0 {
			m.hit(r, int(from), run)
		}
		chain = chain[run:]
	}
	for _, b := range r.Blocks {
		s := &m.seen[b]
		if s.n == 0 {
			s.first, s.kind = r.At, r.Kind
			m.distinct++
		} else {
			m.live.add(int(m.latest[b]), -1)
		}
		s.n++
		s.last = r.At
		m.latest[b] = int32(i + 1)
	}
	m.live.add(i+1, len(r.Blocks))
}

// run is the number of leading blocks with the same last request.
func (m *measure) run(chain []uint32) int {
	n := 1
	for n < len(chain) && m.latest[chain[n]] == m.latest[chain[0]] {
		n++
	}
	return n
}

func (m *measure) hit(r *blocks.Request, from, run int) {
	before := &m.trace.Requests[from-1]
	m.hits[r.Kind] += run
	if before.Session == r.Session && r.Session != 0 {
		m.same += run
	}
	m.gaps[r.Kind] = append(m.gaps[r.Kind], weighted{r.At - before.At, run})
	above := m.live.after(from)
	for k := range run {
		m.depth[above+k]++
	}
}

// lru is the block hit ratio of LRU with a share of the distinct blocks as its capacity.
func (m *measure) lru(share float64) float64 {
	hits := 0
	for _, n := range m.depth[:int(share*float64(m.distinct))] {
		hits += n
	}
	return ratio(hits, sum(m.accesses))
}

func (m *measure) ideal() float64 { return ratio(sum(m.hits), sum(m.accesses)) }

func (m *measure) kind(name string) int { return slices.Index(m.trace.Kinds, name) }

func sum(all []int) (total int) {
	for _, n := range all {
		total += n
	}
	return total
}

func ratio(part, all int) float64 {
	if all == 0 {
		return 0
	}
	return float64(part) / float64(all)
}

// quantile is the least value that a share q of the blocks do not exceed.
func quantile(all []weighted, q float64) float64 {
	slices.SortFunc(all, func(a, b weighted) int {
		switch {
		case a.value < b.value:
			return -1
		case a.value > b.value:
			return 1
		}
		return 0
	})
	total := 0
	for _, w := range all {
		total += w.n
	}
	below := 0
	for _, w := range all {
		if below += w.n; float64(below) >= q*float64(total) {
			return w.value
		}
	}
	return 0
}

// fenwick keeps sums over the requests, from number 1, each call in O(log n).
type fenwick []int32

func (f fenwick) add(i, d int) {
	for ; i < len(f); i += i & -i {
		f[i] += int32(d)
	}
}

// upTo is the sum over the requests to number i.
func (f fenwick) upTo(i int) (total int) {
	for ; i > 0; i -= i & -i {
		total += int(f[i])
	}
	return total
}

// after is the sum over the requests later than number i.
func (f fenwick) after(i int) int { return f.upTo(len(f)-1) - f.upTo(i) }
