package whatif

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// fresh is how long a result is shown before another is computed.
const fresh = time.Minute

// The states of a report.
const (
	StateReady     = "ready"
	StateComputing = "computing" // Curves are those of before, where there are any
	StateShort     = "too short" // there are too few requests
	StateFailed    = "failed"
)

// Report is what GET /admin/whatif shows.
type Report struct {
	State    string    `json:"state"`
	Words    string    `json:"in_words,omitempty"`
	Progress float64   `json:"progress"`
	Computed time.Time `json:"computed,omitzero"`
	Age      float64   `json:"age_seconds"`
	Took     float64   `json:"took_seconds"`
	Curves   *Curves   `json:"curves,omitempty"`
	Reuse    *Reuse    `json:"reuse,omitempty"` // nil: nothing is compared by meaning
}

// Study computes reports of a window, one at a time. It is safe for concurrent use.
type Study struct {
	w      *Window
	pairs  *Pairs
	of     Cache
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex // protects what follows
	report Report
	ended  chan struct{} // closed when the computation under way has ended; nil: none is
}

// NewStudy returns a study of the requests that a cache has answered, and of what it has judged.
func NewStudy(w *Window, p *Pairs, of Cache) *Study {
	s := &Study{w: w, pairs: p, of: of}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Close ends a computation; of a nil Study there is none.
func (s *Study) Close() {
	if s == nil {
		return
	}
	s.cancel()
	s.work.Wait()
}

// Report returns the last curves, and begins to compute others where these are a minute old. It waits for them until ctx is done. What other
// settings than j would serve is computed at once; nil: nothing is compared by meaning.
func (s *Study) Report(ctx context.Context, j *Judging) Report {
	if ended := s.begin(); ended != nil {
		select {
		case <-ended:
		case <-ctx.Done():
		}
	}
	var reused *Reuse
	if j != nil {
		all, requests := s.pairs.copies()
		reused = j.reuseOf(all, requests)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.report
	r.Reuse = reused
	if !r.Computed.IsZero() {
		r.Age = time.Since(r.Computed).Seconds()
	}
	return r
}

// begin begins a computation where one is needed. It returns a channel that is closed when the one under way has ended, nil where none is.
func (s *Study) begin() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil {
		return s.ended
	}
	if !s.report.Computed.IsZero() && time.Since(s.report.Computed) < fresh || s.ctx.Err() != nil {
		return nil
	}
	if n := s.w.requests(); n < least {
		s.report = Report{State: StateShort, Words: wordsShort(n)}
		return nil
	}
	s.ended = make(chan struct{})
	s.report.State, s.report.Words, s.report.Progress = StateComputing, "", 0
	s.work.Go(s.run)
	return s.ended
}

func (s *Study) run() {
	start := time.Now()
	one := study{Cache: s.of, sample: s.w.sample(), pause: halfTime(), progress: func(done, total int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.report.Progress = float64(done) / float64(total)
	}}
	c, err := one.guarded(s.ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.ended)
	s.ended = nil
	s.report.Computed, s.report.Took, s.report.Progress = time.Now().UTC(), time.Since(start).Seconds(), 1
	if err != nil {
		s.report.State, s.report.Words = StateFailed, "The curves could not be computed: "+err.Error()+"."
		return
	}
	c.Window.Bytes = s.w.Bytes()
	s.report.State, s.report.Curves = StateReady, c
}

func wordsShort(rows int64) string {
	return fmt.Sprintf("%d requests were sampled so far, and %d are needed before a curve says anything.", rows, least)
}
