// Package watch keeps what operators see of a proxy: a history of its counters in memory, 24 hours in steps of ten seconds, and a stream of
// requests as they pass, for a few viewers.
//
// No request waits for any of it. A request costs a look at the list of viewers, which is mostly empty, and one atomic addition to a
// histogram; the counters themselves are those that the proxy has anyway, read every ten seconds. A viewer that reads too slowly is dropped.
// No prompt and no answer comes here.
package watch

import (
	"sync"
	"time"
)

// Step is the time between two samples of the history. Samples are taken at its multiples, so that those of several proxies can be compared.
const Step = 10 * time.Second

// Results is how many ways there are in which a request is answered.
const Results = 8

// Counters are what a proxy has counted since its start, and how it is now.
type Counters struct {
	Requests      [Results]int64 // by result
	TokensSaved   int64
	MoneySaved    float64 // in the currency of the operator's prices
	MoneySpent    float64
	UpstreamSaved time.Duration // that the upstream took for the answers which were served again
	Stored        int64
	Evictions     int64
	PromptTokens  int64 // of answers that report how many of them the upstream had in its cache
	CachedTokens  int64 // of these

	Entries  int64 // in the store, now
	Bytes    int64
	InFlight int64 // upstream calls
	Queued   int64 // requests that wait for one
}

// Options configures a Watch.
type Options struct {
	Names   [Results]string // of the results, in the order of Counters.Requests
	Read    func() Counters // called every Step, and by no request; required
	Viewers int             // most viewers at the same time; default DefaultViewers
}

// DefaultViewers is how many viewers there may be at the same time. Each takes up to 256 events of some 300 bytes.
const DefaultViewers = 16

// Watch has the history and the viewers. It is safe for concurrent use.
type Watch struct {
	o       Options
	started time.Time
	times   latencies
	viewers viewers

	mu      sync.RWMutex // protects what follows
	history history
	before  Counters // at the last sample

	closing sync.Once
	closed  chan struct{}
	ended   chan struct{}
}

// New returns a Watch, which takes samples until Close.
func New(o Options) *Watch {
	if o.Viewers == 0 {
		o.Viewers = DefaultViewers
	}
	w := &Watch{o: o, started: time.Now(), closed: make(chan struct{}), ended: make(chan struct{})}
	w.viewers.most = o.Viewers
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

// run takes a sample at each multiple of Step.
func (w *Watch) run() {
	defer close(w.ended)
	for {
		now := time.Now()
		wait := time.NewTimer(now.Truncate(Step).Add(Step).Sub(now))
		select {
		case <-w.closed:
			wait.Stop()
			return
		case at := <-wait.C:
			w.sample(at)
		}
	}
}

// sample appends what was counted since the last sample to the history.
func (w *Watch) sample(at time.Time) {
	now := w.o.Read()
	w.mu.Lock()
	s := w.history.next(at.Add(Step / 4)) // the clock of the timer and that of the wall differ a little
	s.since(&w.before, &now)
	w.times.take(s)
	w.before = now
	w.mu.Unlock()
	w.viewers.tick(at)
}

// Observe counts how long an answer took, of a class whose times are kept.
func (w *Watch) Observe(c Class, took time.Duration) { w.times.observe(c, took) }
