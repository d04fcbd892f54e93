package profile

import (
	"fmt"
	"math"

	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/policy"
)

// pass is one pass over a trace. What is kept of blocks is in arrays by their numbers; requests are numbered from 1.
type pass struct {
	trace *blocks.Trace
	start float64
	span  float64
	width float64 // of a window, seconds

	first, last []uint32 // use of each block, 0: none
	end         []uint32 // last hit
	uses        []uint32
	places      []uint16 // bits of the tenths of requests that a block was in

	windows  []Window
	cells    []*cell // by category; nil: no request
	sessions ranked  // of conversations
	users    ranked
	same     int64 // hits on blocks that the same conversation used last
	own      int64 // hits on blocks that the same user used last
	between  map[[2]uint32]int64
	userHits []int64 // by rank of the user
}

// cell is what is counted for a category.
type cell struct {
	Totals
	multi, next int
	reuse       tally
	placed      *placed
	nexts       []int64 // by window: requests that go on
	counts      []int64 // by window: requests
}

// ranked gives the numbers 0, 1, … to ids in the order of their first request.
type ranked struct {
	rank map[uint32]int
	ids  []uint32
}

func (r *ranked) of(id uint32) int {
	n, ok := r.rank[id]
	if !ok {
		if r.rank == nil {
			r.rank = map[uint32]int{}
		}
		n = len(r.ids)
		r.rank[id] = n
		r.ids = append(r.ids, id)
	}
	return n
}

func newPass(t *blocks.Trace, o *Options) (*pass, error) {
	p := &pass{trace: t, width: o.Window, between: map[[2]uint32]int64{}}
	if n := len(t.Requests); n > 0 {
		p.start = t.Requests[0].At
		p.span = t.Requests[n-1].At - p.start
	}
	if p.width == 0 {
		p.width = round(p.span)
	}
	if p.span/p.width >= mostWindows {
		return nil, fmt.Errorf("windows of %g s in %g s: want at most %d of them", p.width, p.span, mostWindows)
	}
	p.windows = make([]Window, int(p.span/p.width)+1)
	for i := range p.windows {
		p.windows[i].From = float64(i) * p.width
	}
	p.first, p.last, p.end = make([]uint32, t.Distinct), make([]uint32, t.Distinct), make([]uint32, t.Distinct)
	p.uses, p.places = make([]uint32, t.Distinct), make([]uint16, t.Distinct)
	p.cells = make([]*cell, policy.MostTurns*len(t.Kinds))
	return p, nil
}

// round is a round length that cuts a span into some 30 to 60 windows.
func round(span float64) float64 {
	least := span / 60
	for _, unit := range []float64{1, 60, 3600, 86400} {
		for _, n := range []float64{1, 2, 5, 10, 30} {
			if n*unit >= least {
				return n * unit
			}
		}
	}
	return math.Ceil(least/864000) * 864000
}

func (p *pass) window(at float64) int { return min(int((at-p.start)/p.width), len(p.windows)-1) }

func (p *pass) cell(r *blocks.Request) *cell {
	c := p.cells[r.Category()]
	if c == nil {
		c = &cell{placed: &placed{}, nexts: make([]int64, len(p.windows)), counts: make([]int64, len(p.windows))}
		p.cells[r.Category()] = c
	}
	return c
}

// request counts request i.
func (p *pass) request(i int) {
	r := &p.trace.Requests[i]
	c := p.cell(r)
	hits := p.chain(i, r)
	p.fill(i, r)
	p.place(r, c)
	w := p.window(r.At)
	one := Totals{Requests: 1, Blocks: int64(len(r.Blocks)), Hits: hits}
	c.add(one)
	p.windows[w].add(one)
	c.counts[w]++
	if r.Turn > 1 {
		c.multi++
	}
	if r.GoesOn {
		c.next++
		c.nexts[w]++
	}
	if r.User != 0 {
		n := p.users.of(r.User)
		if n == len(p.userHits) {
			p.userHits = append(p.userHits, 0)
		}
		p.userHits[n] += hits
	}
	if r.Session != 0 {
		p.sessions.of(r.Session)
	}
}

// chain uses the blocks of a prompt. Those that one request used last are counted together: they are many.
func (p *pass) chain(i int, r *blocks.Request) (hits int64) {
	chain, number := r.Blocks, uint32(i+1)
	for k := 0; k < len(chain); {
		from, begin := p.last[chain[k]], k
		for ; k < len(chain) && p.last[chain[k]] == from; k++ {
			b := chain[k]
			p.last[b] = number
			p.uses[b]++
			if from == 0 {
				p.first[b] = number
			} else {
				p.end[b] = number
			}
		}
		if from != 0 {
			hits += int64(k - begin)
			p.hit(r, &p.trace.Requests[from-1], int64(k-begin))
		}
	}
	return hits
}

// hit counts n hits of a request on blocks that another one used last.
func (p *pass) hit(r, before *blocks.Request, n int64) {
	p.cell(before).reuse.again(r.At-before.At, n)
	if r.Session != 0 && r.Session == before.Session {
		p.same += n
	}
	if r.User != 0 && before.User != 0 {
		p.between[[2]uint32{r.User, before.User}] += n
		if r.User == before.User {
			p.own += n
		}
	}
}

// fill uses the blocks that the answer completes for the first time. Others are no hits: they were computed again.
func (p *pass) fill(i int, r *blocks.Request) {
	for _, b := range r.Filled {
		if p.last[b] == 0 {
			p.first[b], p.last[b] = uint32(i+1), uint32(i+1)
			p.uses[b]++
		}
	}
}

// finish counts the last use of each block, which no other one followed.
func (p *pass) finish() {
	for _, last := range p.last {
		if last != 0 {
			r := &p.trace.Requests[last-1]
			p.cells[r.Category()].reuse.silent(p.start + p.span - r.At)
		}
	}
}

// distinct is how many blocks were used.
func (p *pass) distinct() (n int) {
	for _, u := range p.uses {
		if u > 0 {
			n++
		}
	}
	return n
}
