package blocks

import (
	"container/heap"
	"context"
	"math"

	"reprise/cmd/reprise-lab/sim"
	"reprise/policy"
)

// player plays a trace through one policy at one capacity.
type player struct {
	trace  *Trace
	speed  *Speed // nil: a request takes no time
	warmup int
	oracle bool // the truth replaces predictions

	tiers  tiers
	seer   sim.Clairvoyant // the evictor, nil where it is none
	future *future         // for it

	running soonest   // ends of requests
	ready   soonest   // arrivals that depend on an earlier answer
	waits   []next    // for each request in a closed loop, those whose arrival depends on the end of its answer
	servers []float64 // when each has done its last prefill
	spare   [][]uint32

	result       Result
	ratios       float64
	time, queued []float32
}

// event is the arrival of a request, or its end.
type event struct {
	at    float64
	index int      // of the request
	lease []uint32 // the blocks that it holds until its end, the deepest last
}

// play plays all requests, or those until ctx is done. It reports each 256 that were played, and the rest.
func (p *player) play(ctx context.Context, progress func(int)) {
	p.servers = make([]float64, 1)
	if p.speed != nil {
		p.servers = make([]float64, max(1, p.speed.Servers))
		for i := range p.servers {
			p.servers[i] = math.Inf(-1)
		}
		p.waits = p.closed()
	}
	first, n := 0, len(p.trace.Requests)
	for played := 0; ; played++ {
		if played%256 == 0 {
			if ctx.Err() != nil {
				return
			}
			progress(min(played, 256))
		}
		for first < n && p.follows(first) {
			first++
		}
		switch {
		case len(p.ready) > 0 && (first == n || p.ready[0].at < p.trace.Requests[first].At):
			next := heap.Pop(&p.ready).(event)
			p.request(next.index, next.at, int64(played+1))
		case first < n:
			p.request(first, p.trace.Requests[first].At, int64(played+1))
			first++
		default:
			p.releaseUntil(math.Inf(1), int64(played))
			progress(played % 256)
			return
		}
	}
}

// next is the requests that wait for the end of an answer, as indices; 0: none, because the first request waits for no other.
type next struct {
	turn   int32 // the first that continues the answer
	branch int32 // another that continues what this request continues
}

// closed returns which requests wait for which, if the loop is closed. An answer that several continue starts a chain: the second of them
// waits for the first.
func (p *player) closed() []next {
	if !p.speed.Closed {
		return nil
	}
	waits, last := make([]next, len(p.trace.Requests)), map[int32]int32{}
	for i := range p.trace.Requests {
		after := p.trace.Requests[i].After
		if after == 0 {
			continue
		}
		if before, ok := last[after]; ok {
			waits[before].branch = int32(i)
		} else {
			waits[after-1].turn = int32(i)
		}
		last[after] = int32(i)
	}
	return waits
}

func (p *player) follows(i int) bool { return p.waits != nil && p.trace.Requests[i].After != 0 }

// request plays one request that arrives at a time.
func (p *player) request(index int, at float64, seq int64) {
	r := &p.trace.Requests[index]
	begin := at
	server := 0
	if p.speed != nil {
		for i, free := range p.servers {
			if free < p.servers[server] {
				server = i
			}
		}
		begin = max(at, p.servers[server])
		p.releaseUntil(begin, seq-1)
	}
	tick := policy.Tick{Seq: seq, At: begin}
	lease, hits, second := p.start(index, tick)
	cached := min(hits*p.trace.Tokens, int(r.Prompt)-1)
	wait := 0.0
	end := begin
	if p.speed != nil {
		wait = p.speed.first(r, cached, min(second*p.trace.Tokens, cached))
		p.servers[server] = begin + wait
		end = begin + wait + p.speed.answer(r)
	}
	if seq > int64(p.warmup) {
		p.count(r, hits, second, cached, wait, begin-at)
	}
	if p.speed == nil {
		p.finish(event{end, index, lease}, tick)
		return
	}
	heap.Push(&p.running, event{end, index, lease})
	if p.waits == nil {
		return
	}
	for _, i := range []int32{p.waits[index].turn, p.waits[index].branch} {
		if i != 0 {
			heap.Push(&p.ready, event{at: end + p.trace.Requests[i].Think, index: int(i)})
		}
	}
}

func (p *player) count(r *Request, hits, second, cached int, wait, queued float64) {
	c := &p.result
	c.Requests++
	c.Blocks += int64(len(r.Blocks))
	c.Hits += int64(hits)
	c.Second += int64(second)
	c.Saved += int64(max(cached, 0))
	p.ratios += float64(hits) / float64(max(len(r.Blocks), 1))
	if p.speed != nil {
		p.time = append(p.time, float32(wait))
		p.queued = append(p.queued, float32(queued+wait))
	}
}

// start gives the request the blocks of its prompt. It returns those that it holds, and how many hit, of them in the second tier.
func (p *player) start(index int, at policy.Tick) (lease []uint32, hits, second int) {
	r := &p.trace.Requests[index]
	hits, second = p.tiers.run(r.Blocks)
	lease, refused := p.take(p.buffer(), index, r.Blocks, 0, at)
	p.result.Refused += int64(refused)
	return lease, hits, second
}

// take gives a request some blocks, the first of which is at a place in its chain: it holds those that are there, and takes slots for the
// others, as many as there are. The deepest comes first, so that of equal blocks the deepest is evicted first. It appends the blocks that the
// request holds to lease, and returns how many have no slot.
func (p *player) take(lease []uint32, index int, chain []uint32, place int, at policy.Tick) (held []uint32, refused int) {
	it := p.item(&p.trace.Requests[index])
	for i := len(chain) - 1; i >= 0; i-- {
		if b := chain[i]; p.tiers.first.Has(b) {
			p.hold(index, place+i, b, &it, at)
		}
	}
	kept, room := 0, p.tiers.first.Room()
	for ; kept < len(chain); kept++ {
		if p.tiers.first.Has(chain[kept]) {
			continue
		}
		if room == 0 {
			refused = len(chain) - kept
			break
		}
		room--
	}
	for i := kept - 1; i >= 0; i-- {
		if b := chain[i]; !p.tiers.first.Has(b) {
			p.fill(index, place+i, b, &it, at)
		}
	}
	for _, b := range chain {
		if p.tiers.first.Held(b) { // by this request too: it held all that were there
			lease = append(lease, b)
		}
	}
	return lease, refused
}

// finish adds the blocks of the answer and releases all.
func (p *player) finish(run event, at policy.Tick) {
	r := &p.trace.Requests[run.index]
	if len(run.lease) == len(r.Blocks) { // else the blocks of the answer follow one that is not kept
		run.lease, _ = p.take(run.lease, run.index, r.Filled, len(r.Blocks), at)
	}
	for i := len(run.lease) - 1; i >= 0; i-- {
		p.tiers.first.Release(run.lease[i], at)
	}
	p.spare = append(p.spare, run.lease[:0])
}

func (p *player) hold(index, i int, b uint32, it *policy.Item, at policy.Tick) {
	it.Key, it.Offset = uint64(b)+1, i
	p.tiers.note(b, it, p.foresee(index, i))
	p.tiers.first.Hold(b, it, at)
}

func (p *player) fill(index, i int, b uint32, it *policy.Item, at policy.Tick) bool {
	it.Key, it.Offset = uint64(b)+1, i
	return p.tiers.fill(b, it, p.foresee(index, i), at)
}

// foresee reports the next use of block i of a request to the seer, and returns it; 0 without one.
func (p *player) foresee(index, i int) (next int64) {
	if p.seer != nil {
		next = int64(p.future.next[p.future.starts[index]+i])
		p.seer.Foresee(next, 0)
	}
	return next
}

// item is what the blocks of a request have in common. Its topic is the conversation, for policies that have topics.
func (p *player) item(r *Request) policy.Item {
	it := policy.Item{Topic: policy.TopicID(r.Session), Category: r.Category(), Size: int64(p.trace.Tokens), Cost: float64(p.trace.Tokens), Prob: float64(r.Prob)}
	if p.oracle {
		it.Prob = 1e-6 // 0 is no prediction
		if r.GoesOn {
			it.Prob = 1 - 1e-6
		}
	}
	return it
}

// releaseUntil ends the requests that have ended, with the number of the latest one that began: a policy takes the first use with a new number
// for the begin of a request.
func (p *player) releaseUntil(now float64, seq int64) {
	for len(p.running) > 0 && p.running[0].at <= now {
		run := heap.Pop(&p.running).(event)
		p.finish(run, policy.Tick{Seq: seq, At: run.at})
	}
}

func (p *player) buffer() []uint32 {
	if n := len(p.spare); n > 0 {
		b := p.spare[n-1]
		p.spare = p.spare[:n-1]
		return b
	}
	return nil
}

// soonest is a heap for container/heap; ties go to the earlier request.
type soonest []event

func (h soonest) Len() int { return len(h) }
func (h soonest) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].index < h[j].index
}
func (h soonest) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *soonest) Push(x any)   { *h = append(*h, x.(event)) }
func (h *soonest) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last], *h = event{}, (*h)[:last]
	return e
}
