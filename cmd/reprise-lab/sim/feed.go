package sim

import (
	"context"
	"math"

	"reprise/policy"
)

// batchSize is how many requests are read at a time and played by every cell before the next. A batch, which all
// cells read, fits in the cache of a processor. A cell checks the context once per batch.
const batchSize = 4096

// event is a request as the cells get it, with look-ups that all of them need done once.
type event struct {
	who        uint32 // number of the identity
	parent     uint32 // number + 1 of the parent's; 0 is none
	next, left uint32 // for Clairvoyant
	turn       int32
	key        uint64 // stays the same after an eviction
	at         float64
	topic      uint64
	size       int64
	cost       float64
}

// batch is a piece of the trace. The warm-up, if any, and every window end with one.
type batch struct {
	events      []event
	requests    []Request // nil where the events are enough
	start       int64     // how many requests came before
	counts      bool      // false in the warm-up
	ends        bool      // the warm-up or a window
	asked, full tally     // all requests so far that count, and of those the hits of an infinite cache
}

// feed reads the trace a second time, ahead of the cells.
type feed struct {
	trace       Trace
	plan        *plan
	warmup      int64
	whole       bool // requests are sent whole
	played      int64
	known       uint32 // identities so far: the next new one has this number
	clock       float64
	asked, full tally
	cuts        cuts

	spare chan *batch // played, or never used
	out   chan *batch // closed after the last
}

func newFeed(t Trace, p *plan, o *Options) *feed {
	f := &feed{trace: t, plan: p, warmup: int64(o.Warmup), whole: o.Model != nil, clock: math.Inf(-1), cuts: newCuts(p.requests, o)}
	f.spare, f.out = make(chan *batch, 2), make(chan *batch, 1)
	for range cap(f.spare) {
		f.spare <- &batch{events: make([]event, 0, batchSize)}
	}
	return f
}

// run sends batches until the trace ends or differs from the survey, or ctx is done.
func (f *feed) run(ctx context.Context) {
	defer close(f.out)
	b := f.fresh(ctx)
	for r, err := range f.trace.Requests() {
		if b == nil || err != nil || f.played == f.plan.requests {
			break
		}
		who, ok := f.plan.ids.find(f.plan.ids.of(r.ID, r.Scope))
		if !ok {
			break
		}
		b.events = append(b.events, f.event(who, &r))
		if f.whole {
			b.requests = append(b.requests, r)
		}
		if len(b.events) == batchSize || f.played == f.cuts.next {
			f.send(ctx, b)
			b = f.fresh(ctx)
		}
	}
	if b != nil && len(b.events) > 0 {
		f.send(ctx, b)
	}
}

// fresh is an empty batch, nil when ctx is done.
func (f *feed) fresh(ctx context.Context) *batch {
	select {
	case b := <-f.spare:
		b.events, b.requests = b.events[:0], b.requests[:0]
		b.start, b.counts = f.played, f.played >= f.warmup
		return b
	case <-ctx.Done():
		return nil
	}
}

func (f *feed) send(ctx context.Context, b *batch) {
	b.asked, b.full, b.ends = f.asked, f.full, f.played == f.cuts.next
	f.cuts.pass(f.played)
	select {
	case f.out <- b:
	case <-ctx.Done():
	}
}

// event is the event of r. A trace without times is played at one request a second, and time never decreases. A parent that
// comes later has a number too, but is not resident.
func (f *feed) event(who uint32, r *Request) event {
	e := event{who: who, key: policy.KeyOf(r.ID, r.Scope), turn: r.Turn, topic: r.Topic, size: size(r), cost: cost(r)}
	if r.Parent != 0 {
		if parent, ok := f.plan.ids.find(f.plan.ids.of(r.Parent, r.Scope)); ok && parent != who {
			e.parent = parent + 1
		}
	}
	if f.plan.next != nil {
		e.next = f.plan.next[f.played]
	}
	if f.plan.left != nil {
		e.left = f.plan.left[f.played]
	}
	f.played++
	if f.clock = max(f.clock, r.At); !f.plan.timed {
		f.clock = float64(f.played)
	}
	e.at = f.clock
	f.count(&e)
	return e
}

func (f *feed) count(e *event) {
	again := e.who != f.known
	if !again {
		f.known++
	}
	if f.played <= f.warmup {
		return
	}
	f.asked.add(e)
	if again {
		f.full.add(e)
	}
}
