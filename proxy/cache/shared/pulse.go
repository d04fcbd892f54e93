package shared

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"reprise/store"
)

// memberGone is how long a member is silent until neither a purge nor the log waits for it, unless twice the grace is longer. It serves
// nothing that could be purged then, and loads all entries when it comes back.
const memberGone = 10 * time.Second

// States of pulse.full.
const (
	notFull = iota
	full
	madeRoom
)

// pulse reports to the shared store at each beat, and takes the time, the members, the keeper's lease and the end of the log from it.
type pulse struct {
	s          *Shared
	every      time.Duration
	wake       bell
	offset     atomic.Int64 // of the store's clock
	unfinished store.Mark   // the first unfinished purge, and since when it is; of the goroutine that beats
	since      time.Time
	keeper     atomic.Int64 // until when this process is the keeper, in nanoseconds since view.start
	full       atomic.Int32 // whether the last pulse said that the server is full: notFull, full, or madeRoom if something has left for that

	mu      sync.Mutex // protects the rest
	last    store.Pulse
	trim    store.Position // of an own purge: what is before it is to leave the log
	beats   chan struct{}  // closed at the next beat
	failing bool

	clockAt    time.Time     // when offset was read; zero: never
	clockError time.Duration // of it then
}

func newPulse(s *Shared) *pulse {
	return &pulse{s: s, every: min(300*time.Millisecond, s.opt.grace/3), wake: newBell(), beats: make(chan struct{})}
}

func (p *pulse) run(ctx context.Context) {
	tick := time.NewTicker(p.every)
	defer tick.Stop()
	for {
		if p.s.joined.Load() {
			p.s.guarded(ctx, "beat", p.beat)
		}
		select {
		case <-tick.C:
		case <-p.wake:
		case <-ctx.Done():
			return
		}
	}
}

// beat is one beat. Only a member that follows the log can be the keeper.
func (p *pulse) beat(ctx context.Context) {
	at, _, synced, _ := p.s.view.now()
	if !synced { // the follower asks by itself
		return
	}
	began := time.Now()
	limit, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	got, err := p.s.opt.Link.Group.Beat(limit, at, p.s.view.live())
	p.note(got, err)
	if err != nil {
		if ctx.Err() == nil {
			p.s.fault("beat", err)
		}
		if errors.Is(err, store.ErrProcess) || errors.Is(err, store.ErrSecret) {
			p.s.view.lose()
		}
		return
	}
	p.clock(got, began, time.Since(began))
	p.keep(got, began)
	if got.Full {
		p.full.Store(full)
	} else {
		p.full.Store(notFull)
	}
	if p.s.view.pulse(began, at, got) || p.abandoned(got, began) {
		p.s.view.lose()
		return
	}
	p.trimLog(ctx)
}

// abandoned reports whether the keeper has to load the entries, because a purge stays unfinished: its member is gone. A load finishes it soon;
// at the start of another member it would remove what was stored since.
func (p *pulse) abandoned(got store.Pulse, now time.Time) bool {
	if len(got.Unfinished) == 0 || !p.keeps() {
		p.unfinished = store.Mark{}
		return false
	}
	first := store.Mark{Log: got.Mark.Log, Purges: got.Unfinished[0].Purges}
	if p.unfinished != first {
		p.unfinished, p.since = first, now
	}
	if now.Sub(p.since) <= memberGone {
		return false
	}
	p.since = now
	return true
}

// purged makes the log end with the purge at a position, as soon as all members have applied that: until then it has the prompts of what the
// purge has removed.
func (p *pulse) purged(at store.Position) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trim = at
}

func (p *pulse) trimLog(ctx context.Context) {
	p.mu.Lock()
	at := p.trim
	p.mu.Unlock()
	if at.N == 0 || !p.appliedBy(at.N) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := p.s.opt.Link.Log.TrimLog(ctx, at); err != nil {
		p.s.fault("trim", err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.trim == at {
		p.trim = store.Position{}
	}
}

// clock takes the time of the store, which was at half of a call with an error of half of what the call took. A reading is kept until another
// is better, or shows that a clock was set; its error grows by a thousandth of its age.
func (p *pulse) clock(got store.Pulse, began time.Time, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	offset := got.Time.Sub(began.Add(took / 2).Round(0))
	is, was := took/2, p.clockError+time.Since(p.clockAt)/1000
	if apart := (offset - time.Duration(p.offset.Load())).Abs(); p.clockAt.IsZero() || is <= was || apart > is+was {
		p.offset.Store(int64(offset))
		p.clockAt, p.clockError = began, is
	}
}

// keep takes the keeper's lease as it was when the beat began.
func (p *pulse) keep(got store.Pulse, began time.Time) {
	if got.Keeper == p.s.opt.Link.Group.Process() && got.Keeper != 0 {
		p.keeper.Store(int64(began.Sub(p.s.view.start) + got.Leased))
	} else {
		p.keeper.Store(0)
	}
}

// keeps reports whether this process is the keeper, by its own monotonic clock.
func (p *pulse) keeps() bool { return int64(time.Since(p.s.view.start)) < p.keeper.Load() }

func (p *pulse) note(got store.Pulse, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failing = err != nil
	if err == nil {
		p.last = got
	}
	close(p.beats)
	p.beats = make(chan struct{})
}

// changed is closed at the next beat.
func (p *pulse) changed() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.beats
}

// appliedBy reports whether all other members have applied batch n.
func (p *pulse) appliedBy(n uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failing || p.last.End.N < n {
		return false
	}
	gone := max(memberGone, 2*p.s.opt.grace)
	for _, m := range p.last.Members {
		if m.Process != p.s.opt.Link.Group.Process() && m.Applied < n && m.Silent < gone {
			return false
		}
	}
	return true
}

// Keeper reports whether this process decides evictions now.
func (s *Shared) Keeper() bool { return s.pulse.keeps() }
