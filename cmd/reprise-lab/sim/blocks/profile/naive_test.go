package profile

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/policy"
)

// talk is a trace of conversations of several kinds and users, which share beginnings; some answers complete blocks.
func talk(seed uint64, requests int) *blocks.Trace {
	rng := rand.New(rand.NewPCG(seed, 7))
	var n blocks.Numbers
	t := &blocks.Trace{Name: "talk", Generated: true, Tokens: 16, Kinds: []string{"text", "search", "never"}}
	type open struct {
		ids  []uint64
		last int
	}
	var all []open
	at := 100.0
	for i := range requests {
		at += rng.ExpFloat64() * 5
		r := blocks.Request{At: at, Prompt: int32(1 + rng.IntN(500)), Answer: int32(rng.IntN(90))}
		c := rng.IntN(len(all) + 3)
		if c >= len(all) {
			c = len(all)
			all = append(all, open{ids: []uint64{uint64(rng.IntN(2)), 5, 6}})
			r.Kind, r.User, r.Turn, r.Session = uint16(rng.IntN(2)), uint32(10+rng.IntN(4)), 1, uint32(len(all)*3)
		} else {
			before := &t.Requests[all[c].last]
			before.GoesOn = true
			r.Kind, r.User, r.Turn, r.Session, r.After = before.Kind, before.User, before.Turn+1, before.Session, int32(all[c].last+1)
		}
		for range 1 + rng.IntN(4) {
			all[c].ids = append(all[c].ids, rng.Uint64N(4)+100*uint64(rng.IntN(3)/2*i))
		}
		r.Blocks = n.Chain(nil, all[c].ids)
		if rng.IntN(2) == 0 {
			all[c].ids = append(all[c].ids, 1<<20|rng.Uint64N(2)) // another answer may have completed it
			r.Filled = n.Chain(nil, all[c].ids)[len(r.Blocks):]
		}
		all[c].last = i
		if len(all[c].ids) > 12 {
			all[c].ids = all[c].ids[:3]
		}
		t.Requests = append(t.Requests, r)
	}
	t.Distinct = n.Len()
	return t
}

// use is a use of a block.
type use struct {
	request int
	hit     bool
}

// naive is the uses of each block, in order.
type naive struct {
	t    *blocks.Trace
	uses map[uint32][]use
	ends float64
}

func newNaive(t *blocks.Trace) *naive {
	n := &naive{t: t, uses: map[uint32][]use{}, ends: t.Requests[len(t.Requests)-1].At}
	for i, r := range t.Requests {
		for _, b := range r.Blocks {
			n.uses[b] = append(n.uses[b], use{i, len(n.uses[b]) > 0})
		}
		for _, b := range r.Filled {
			if len(n.uses[b]) == 0 {
				n.uses[b] = append(n.uses[b], use{i, false})
			}
		}
	}
	return n
}

// hits is how many blocks of a request hit.
func (n *naive) hits(i int) (hits int64) {
	for _, b := range n.t.Requests[i].Blocks {
		for _, u := range n.uses[b] {
			if u.request == i && u.hit {
				hits++
			}
		}
	}
	return hits
}

// pairs calls f with each hit: the request, and the one that used the block last before it.
func (n *naive) pairs(f func(r, before *blocks.Request)) {
	for _, uses := range n.uses {
		for k := 1; k < len(uses); k++ {
			f(&n.t.Requests[uses[k].request], &n.t.Requests[uses[k-1].request])
		}
	}
}

// gaps are the times to the next use and, of uses without one, the ages at the end, of the uses by the requests in a group.
func (n *naive) gaps(in func(*blocks.Request) bool) (gaps, ages []float64) {
	for _, uses := range n.uses {
		for k, u := range uses {
			r := &n.t.Requests[u.request]
			switch {
			case !in(r):
			case k+1 < len(uses):
				gaps = append(gaps, n.t.Requests[uses[k+1].request].At-r.At)
			default:
				ages = append(ages, n.ends-r.At)
			}
		}
	}
	return gaps, ages
}

// needed is how many blocks were used up to a request and are hit after it.
func (n *naive) needed(i int) (needed int64) {
	for _, uses := range n.uses {
		if uses[0].request <= i && uses[len(uses)-1].request > i {
			needed++
		}
	}
	return needed
}

// kept is the share of the uses, in the prompts of a group, of blocks that an earlier request had in a part of its chain.
func (n *naive) kept(in func(*blocks.Request) bool, offset, stride int) float64 {
	cached, hits, all := map[uint32]bool{}, 0, 0
	for _, r := range n.t.Requests {
		chain := slices.Concat(r.Blocks, r.Filled)
		for _, b := range r.Blocks {
			if in(&r) {
				all++
				if cached[b] {
					hits++
				}
			}
		}
		for k, b := range chain {
			if place := 10 * k / len(chain); place >= offset && place < offset+stride {
				cached[b] = true
			}
		}
	}
	return float64(hits) / float64(max(1, all))
}

// spans are the lifespans of the blocks that a group used first.
func (n *naive) spans(in func(*blocks.Request) bool) (spans []float64) {
	for _, uses := range n.uses {
		if first := &n.t.Requests[uses[0].request]; in(first) {
			spans = append(spans, n.t.Requests[uses[len(uses)-1].request].At-first.At)
		}
	}
	sort.Float64s(spans)
	return spans
}

func anyRequest(*blocks.Request) bool { return true }

func ofCategory(category uint32) func(*blocks.Request) bool {
	return func(r *blocks.Request) bool { return r.Category() == category }
}

func ofKind(k int) func(*blocks.Request) bool {
	return func(r *blocks.Request) bool { return int(r.Kind) == k }
}

// groupsOf is the requests of a group of a Profile by its name.
func groupsOf(t *blocks.Trace, name string) func(*blocks.Request) bool {
	switch name {
	case everything:
		return anyRequest
	case single:
		return func(r *blocks.Request) bool { return r.Turn == 1 }
	case multi:
		return func(r *blocks.Request) bool { return r.Turn > 1 }
	}
	for k, kind := range t.Kinds {
		if name == kind {
			return ofKind(k)
		}
		if name == single+" "+kind {
			return func(r *blocks.Request) bool { return r.Turn == 1 && int(r.Kind) == k }
		}
	}
	p := pass{trace: t}
	for c := range policy.MostTurns * len(t.Kinds) {
		if p.name(c) == name {
			return ofCategory(uint32(c))
		}
	}
	return nil
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a)) }

// exponential is a trace of blocks of which a share is used again after an exponential time.
func exponential(n int, share, mean float64) *blocks.Trace {
	rng := rand.New(rand.NewPCG(1, 1))
	t := &blocks.Trace{Name: "exponential", Tokens: 16, Kinds: []string{"text"}, Distinct: n}
	for b := range n {
		for at := rng.Float64() * 5000; at < 6000; at += rng.ExpFloat64() * mean {
			t.Requests = append(t.Requests, blocks.Request{At: at, Prompt: 1, Turn: 1, Blocks: []uint32{uint32(b)}})
			if rng.Float64() > share {
				break
			}
		}
	}
	slices.SortFunc(t.Requests, func(a, b blocks.Request) int {
		if a.At < b.At {
			return -1
		}
		return 1
	})
	return t
}
