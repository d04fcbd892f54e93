// Package watch keeps what operators see of a proxy: a history of its counters in memory, ten minutes in steps of a second and 24 hours in steps
// of ten, and a stream of requests as they pass, for a few viewers.
//
// No request waits for any of it. A request costs a look at the list of viewers, which is mostly empty, another at the time of the last request
// that was kept for those who come, and one atomic addition to a histogram; the counters themselves are those that the proxy has anyway, read every second. A viewer that reads too slowly is dropped.
// No prompt and no answer comes here.
package watch

import (
	"sync"
	"time"

	"reprise/proxy/observe"
	"reprise/store"
)

// Step and Long are the step of the history and how far it goes back; fineStep and fine those of the finer one beside it.
const (
	Step     = 10 * time.Second
	Long     = 24 * time.Hour
	fineStep = time.Second
	fine     = 10 * time.Minute
)

// Results is how many ways there are in which a request is answered.
const Results = int(observe.Results)

// Counters are what a proxy has counted since its start, and how it is now.
type Counters struct {
	Requests [Results]int64 // by result
	Sums     [Sums]float64
	Gauges   [Gauges]int64
}

// Options configures a Watch.
type Options struct {
	Read    func() Counters    // called every fineStep, and by no request; required
	Store   func() store.Stats // called every minute; nil: there are no minutes
	Viewers int                // most viewers at the same time; default DefaultViewers
}

// DefaultViewers is how many viewers there may be at the same time. Each takes up to 256 events of some 300 bytes.
const DefaultViewers = 16

// Watch has the history and the viewers. It is safe for concurrent use.
type Watch struct {
	o       Options
	started time.Time
	times   latencies
	recent  [Results]turn // of what is kept for viewers that come
	viewers viewers
	minutes minutes

	mu           sync.RWMutex // protects what follows
	fine, coarse history

	closing sync.Once
	closed  chan struct{}
	ended   chan struct{}
}

// New returns a Watch, which takes samples until Close.
func New(o Options) *Watch {
	if o.Viewers == 0 {
		o.Viewers = DefaultViewers
	}
	w := &Watch{o: o, started: time.Now(), closed: make(chan struct{}), ended: make(chan struct{}),
		fine: history{step: fineStep, kept: int(fine / fineStep)}, coarse: history{step: Step, kept: int(Long / Step)}}
	w.viewers.most = o.Viewers
	if o.Store != nil {
		w.minutes.read, w.minutes.begin, w.minutes.before = o.Store, w.started, o.Store()
	}
	go w.run()
	return w
}

// Close ends the samples and every viewer.
func (w *Watch) Close() {
	w.closing.Do(func() { close(w.closed) })
	<-w.ended
	w.viewers.close()
}

// Started is when the counters were 0.
func (w *Watch) Started() time.Time { return w.started }

// run takes a sample at each multiple of fineStep.
func (w *Watch) run() {
	defer close(w.ended)
	for last := int64(0); ; {
		now := time.Now()
		next := w.fine.stepOf(now) + 1
		if next == last {
			next++ // the clock of the timer was a little before that of the wall
		}
		wait := time.NewTimer(w.fine.timeOf(next).Sub(now))
		select {
		case <-w.closed:
			wait.Stop()
			return
		case <-wait.C:
			w.sample(next)
			last = next
		}
	}
}

// sample appends what was counted until the end of a fine step to the history.
func (w *Watch) sample(step int64) {
	const per = int64(Step / fineStep)
	now := w.o.Read()
	w.mu.Lock()
	w.times.take(&w.fine, &w.coarse)
	w.fine.take(step, &now)
	ends := step%per == 0
	if ends {
		w.coarse.take(step/per, &now)
	}
	w.mu.Unlock()
	if ends {
		w.viewers.tick(w.fine.timeOf(step))
	}
	if step%int64(time.Minute/fineStep) == 0 && w.minutes.read != nil {
		w.minutes.end()
	}
}

// Ended counts how long an answer took where it is a stored one or the upstream's, and shows the request to those who watch, unless a purge that
// may have named it came first.
func (w *Watch) Ended(o *observe.Outcome) {
	if !o.Answered {
		return
	}
	switch o.Result {
	case observe.Exact, observe.Semantic, observe.Stale:
		w.times.observe(ofHit, o.Took)
	case observe.Miss:
		w.times.observe(ofMiss, o.Took)
	}
	if !o.Came.Stale() && w.wants(o.Result, o.At) {
		w.passed(o)
	}
}

// Forget drops the last requests, which a viewer that comes would see, of the tenant and the model of a purge. A purge of one entry or of a
// topic names neither, and no request has a text: then they stay. The history has figures alone.
func (w *Watch) Forget(f store.Filter) {
	if f.Entry == 0 && f.Topic == 0 {
		w.viewers.forget(f)
	}
}
