package generate

import (
	"cmp"
	"math"
	"slices"

	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/cmd/reprise-lab/sim/mrc"
)

// measure is the statistics of the prompts' blocks of a trace.
type measure struct {
	trace    *blocks.Trace
	lru      *mrc.Curve
	kinds    []tally
	hits     []int     // of an infinite cache, by request
	same     int       // hits on blocks that the same session touched last
	distinct int       // blocks of prompts
	unread   int       // blocks of answers that no prompt has
	seen     []touches // by block
}

// tally is what the prompts of one kind have.
type tally struct {
	accesses, hits int
	gaps           []weighted
}

// weighted is a value that a number of blocks have.
type weighted struct {
	value float64
	n     int
}

// touches is how often prompts had a block, and when.
type touches struct {
	n           int32
	latest      int32   // number of the last request with it, from 1
	kind        uint16  // of the first
	first, last float64 // of a block of an answer, first is when that was requested
	asked       float64 // when a prompt first had it
}

// newMeasure reads the trace twice: for the curve of LRU, and for the rest.
func newMeasure(t *blocks.Trace) *measure {
	prompts := *t
	prompts.Requests = slices.Clone(t.Requests)
	for i := range prompts.Requests {
		prompts.Requests[i].Filled = nil
	}
	m := &measure{trace: &prompts, kinds: make([]tally, len(t.Kinds)), hits: make([]int, len(t.Requests)), seen: make([]touches, t.Distinct)}
	m.lru, _ = mrc.Blocks(m.trace, mrc.Options{}) // it refuses options only
	for i := range prompts.Requests {
		m.request(i)
	}
	return m
}

func (m *measure) request(i int) {
	r := &m.trace.Requests[i]
	k := &m.kinds[r.Kind]
	k.accesses += len(r.Blocks)
	for chain := r.Blocks; len(chain) > 0; {
		run := m.run(chain)
		if from := m.seen[chain[0]].latest; from > 0 {
			before := &m.trace.Requests[from-1]
			if before.Session == r.Session && r.Session != 0 {
				m.same += run
			}
			k.gaps = append(k.gaps, weighted{r.At - before.At, run})
			k.hits += run
			m.hits[i] += run
		}
		chain = chain[run:]
	}
	answer, end := m.answered(r)
	for place, b := range r.Blocks {
		begin := r.At
		if place >= answer && place < end {
			begin = m.trace.Requests[r.After-1].At
		}
		m.touch(b, int32(i+1), r.Kind, r.At, begin)
	}
	if !r.GoesOn {
		m.unread += (int(r.Prompt)+int(r.Answer))/m.trace.Tokens - int(r.Prompt)/m.trace.Tokens
	}
}

// run is the number of leading blocks with the same last request.
func (m *measure) run(chain []uint32) int {
	n := 1
	for n < len(chain) && m.seen[chain[n]].latest == m.seen[chain[0]].latest {
		n++
	}
	return n
}

// answered is the places in a prompt of the answer that it continues.
func (m *measure) answered(r *blocks.Request) (begin, end int) {
	if r.After == 0 {
		return 0, 0
	}
	before := &m.trace.Requests[r.After-1]
	return int(before.Prompt) / m.trace.Tokens, int(before.Prompt+before.Answer) / m.trace.Tokens
}

func (m *measure) touch(b uint32, number int32, kind uint16, at, begin float64) {
	s := &m.seen[b]
	if s.n == 0 {
		s.first, s.asked, s.kind = begin, at, kind
		m.distinct++
	}
	s.n++
	s.last, s.latest = at, number
}

// accesses and reuses are those of all kinds.
func (m *measure) accesses() (n int) {
	for i := range m.kinds {
		n += m.kinds[i].accesses
	}
	return n
}

func (m *measure) reuses() (n int) {
	for i := range m.kinds {
		n += m.kinds[i].hits
	}
	return n
}

// kind is the tally of a kind, empty where the trace has none of that name, and its number.
func (m *measure) kind(name string) (tally, int) {
	if i := slices.Index(m.trace.Kinds, name); i >= 0 {
		return m.kinds[i], i
	}
	return tally{}, -1
}

func ratio(part, all int) float64 { return float64(part) / float64(max(1, all)) }

// quantile is the least value that a share q does not exceed. It sorts all.
func quantile(all []weighted, q float64) float64 {
	slices.SortFunc(all, func(a, b weighted) int { return cmp.Compare(a.value, b.value) })
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
	return math.NaN()
}
