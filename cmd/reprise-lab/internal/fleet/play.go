package fleet

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"reprise/proxy/upstream/prefix"
)

// Options are those of one play of a trace.
type Options struct {
	Engines   []Engine
	Block     int     // tokens of an engine's block
	Chooser   string  // of package prefix, or Oracle
	Proxies   int     // that share the requests and nothing else
	Responses bool    // a response cache answers requests that are equal to an earlier one
	Leaders   int     // tokens; see choose.Options
	Rate      float64 // requests a second, on average, if no engine were slow
	MaxPause  float64 // seconds between two requests of a session at most
	Seed      uint64
}

// leaderWait is how long a request waits for another one that prefills its prefix, in seconds.
const leaderWait = 2

// event is the arrival of a request, or the end of its wait for another one.
type event struct {
	at    float64
	order int
	place int
	job   *job // that waits
}

type events []event

func (e events) Len() int      { return len(e) }
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].order < e[j].order
}
func (e *events) Push(x any) { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}

// play is the state of a play.
type play struct {
	*Options
	trace   *Trace
	engines []*engine
	fronts  []front
	events  events
	order   int
	now     float64
	chain   prefix.Chain
	held    []*job             // that wait for another one
	sent    []float64          // by request
	stored  map[uint64]float64 // when the answer of a key was complete
	spare   []*job
	measure *measure
}

// Play plays a trace and returns the figures.
func Play(ctx context.Context, t *Trace, o Options) (*Result, error) {
	p, err := newPlay(t, &o)
	if err != nil {
		return nil, err
	}
	for n := 0; p.step(); n++ {
		if n%(1<<14) == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return p.measure.result(p), p.audit()
}

func newPlay(t *Trace, o *Options) (*play, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	p := &play{Options: o, trace: t, sent: make([]float64, len(t.Requests)), stored: map[uint64]float64{}}
	for _, e := range o.Engines {
		p.engines = append(p.engines, newEngine(e, o.Block))
	}
	for range o.Proxies {
		f, err := newFront(o, p.engines)
		if err != nil {
			return nil, err
		}
		p.fronts = append(p.fronts, f)
	}
	p.begin()
	p.measure = newMeasure(len(o.Engines), len(t.Requests), t.Whole)
	return p, nil
}

func (o *Options) check() error {
	switch {
	case len(o.Engines) == 0 || o.Proxies < 1:
		return errors.New("want at least one engine and one proxy")
	case o.Block < textUnit || o.Block&(o.Block-1) != 0:
		return fmt.Errorf("block of %d tokens: want a power of two from %d", o.Block, textUnit)
	case !(o.Rate > 0):
		return fmt.Errorf("rate %g: want more than 0 requests a second", o.Rate)
	}
	return nil
}

// begin schedules the requests that follow no other one. Sessions begin at random times with the rate, in their order; requests without sessions keep the pattern of the trace, stretched to the rate.
func (p *play) begin() {
	random := rand.New(rand.NewPCG(p.Seed, 0x7374617274))
	starts, at := 0, 0.0
	for i := range p.trace.Requests {
		if p.trace.Requests[i].After == none {
			starts++
		}
	}
	n := len(p.trace.Requests)
	between := float64(n) / float64(starts) / p.Rate
	stretch := 1.0
	if span := p.trace.Requests[n-1].At; !p.trace.Sessions && span > 0 {
		stretch = float64(n) / p.Rate / span
	}
	for i := range p.trace.Requests {
		r := &p.trace.Requests[i]
		if r.After != none {
			continue
		}
		if at += random.ExpFloat64() * between; !p.trace.Sessions {
			at = r.At * stretch
		}
		p.schedule(event{at: at, place: i})
	}
}

func (p *play) schedule(e event) {
	e.order = p.order
	p.order++
	heap.Push(&p.events, e)
}

// step advances to the next event: the end of an engine's step, or an arrival.
func (p *play) step() bool {
	var next *engine
	for _, e := range p.engines {
		if e.busy && (next == nil || e.until < next.until) {
			next = e
		}
	}
	switch {
	case next != nil && (len(p.events) == 0 || next.until <= p.events[0].at):
		p.now = next.until
		next.finish(p.answered, p.ended)
		next.begin(p.now)
		p.releaseHeld()
	case len(p.events) > 0:
		e := heap.Pop(&p.events).(event)
		p.now = e.at
		if e.job != nil {
			p.releaseLate(e.job)
		} else {
			p.arrive(e.place)
		}
	default:
		return false
	}
	return true
}

// arrive takes a request at a proxy.
func (p *play) arrive(place int) {
	r := &p.trace.Requests[place]
	p.sent[place] = p.now
	p.measure.arrived(place, r)
	if p.Responses {
		if at, ok := p.stored[r.Key]; ok && at <= p.now {
			p.measure.responded(place, r)
			p.follow(place)
			return
		}
	}
	j := p.job(place, r)
	r.content.chain(&p.chain)
	from := p.fronts[link(p.Seed, uint64(place))%uint64(len(p.fronts))]
	refused := 0
	may := func(member int) float64 {
		if refused>>member&1 == 1 {
			return 0
		}
		return 1
	}
	for {
		member, t := from.choose(j, &p.chain, may)
		if member == none {
			p.measure.rejected(place, r)
			p.spare = append(p.spare, j)
			p.follow(place)
			return
		}
		if p.engines[member].accepts(r) {
			j.ticket, j.member = t, member
			break
		}
		t.failed()
		refused |= 1 << member
	}
	if t := j.ticket.held(); t != nil && !closed(t) {
		p.held = append(p.held, j)
		p.schedule(event{at: p.now + leaderWait, place: place, job: j})
		return
	}
	p.send(j)
}

// job makes a job, in the memory of one that has ended.
func (p *play) job(place int, r *Request) *job {
	j := &job{}
	if n := len(p.spare); n > 0 {
		j, p.spare = p.spare[n-1], p.spare[:n-1]
	}
	*j = job{place: place, req: r, sent: p.now, hashes: r.content.blocks(j.hashes[:0], p.Block)}
	if r.Next != none {
		j.hashes = p.extended(j.hashes, r, &p.trace.Requests[r.Next])
	}
	return j
}

// extended appends the hashes of the answer's blocks, if the next request of the session goes on from this one: then its prompt has them.
func (p *play) extended(hashes []uint64, r, next *Request) []uint64 {
	n, full := len(hashes), (r.Prompt+r.Answer-1)/p.Block
	if n == 0 || full == n {
		return hashes
	}
	all := next.content.blocks(hashes, p.Block)
	following := all[n:]
	if len(following) <= n || following[n-1] != hashes[n-1] {
		return hashes
	}
	count := copy(all[n:], following[n:min(full, len(following))])
	return all[:n+count]
}

func closed(c <-chan bool) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// releaseHeld sends the requests whose wait has ended.
func (p *play) releaseHeld() {
	kept := p.held[:0]
	for _, j := range p.held {
		if closed(j.ticket.held()) {
			p.send(j)
		} else {
			kept = append(kept, j)
		}
	}
	p.held = kept
}

// releaseLate sends a request that has waited long enough, if it still waits.
func (p *play) releaseLate(late *job) {
	for i, j := range p.held {
		if j == late {
			p.held = append(p.held[:i], p.held[i+1:]...)
			p.send(j)
			return
		}
	}
}

func (p *play) send(j *job) {
	e := p.engines[j.member]
	j.cached = e.cachedTokens(j.req, e.pool.Run(j.prompt(e.block))) // as far as is known now
	e.waiting = append(e.waiting, j)
	if !e.busy {
		e.begin(p.now)
	}
}

func (p *play) answered(j *job) {
	j.ticket.answered()
	p.measure.answered(p.now, j, &p.engines[j.member].Engine)
}

func (p *play) ended(j *job) {
	j.ticket.ended(j.req.Prompt, j.cached)
	if p.Responses {
		p.stored[j.req.Key] = p.now
	}
	p.follow(j.place)
	*j = job{hashes: j.hashes}
	p.spare = append(p.spare, j)
}

// follow schedules the next request of a session: not before this one has its answer.
func (p *play) follow(place int) {
	if next := p.trace.Requests[place].Next; next != none {
		pause := min(p.trace.Requests[next].At, p.MaxPause)
		p.schedule(event{at: max(p.now, p.sent[place]+pause), place: next})
	}
}
