package proxy

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"reprise/proxy/cache"
	"reprise/store"
)

// ledger is the Leads of a test: it counts leads that have begun and ended, and makes other processes store answers meanwhile.
type ledger struct {
	elsewhere func() // what happens while a request waits for another process; nil: none does

	mu          sync.Mutex
	begun, over int
	kept        func() int // entries at this moment
	at          []int      // entries at the end of each lead
}

func (l *ledger) Lead(context.Context, store.Key) (again bool, done func()) {
	if l.elsewhere != nil {
		l.elsewhere()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun++
	return l.elsewhere != nil, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.over++
		l.at = append(l.at, l.kept())
	}
}

func (l *ledger) counts() (begun, over int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.begun, l.over
}

func newLeadRig(t *testing.T, up http.Handler) (*rig, *ledger) {
	l := &ledger{}
	r := newRigAt(t, nil, up, func(o *Options) { o.Leads = l })
	l.kept = func() int { return r.store.Stats().Entries }
	return r, l
}

// TestLeadEnds: a lead ends once, after its answer is kept, and also where none is.
func TestLeadEnds(t *testing.T) {
	var status atomic.Int32
	r, l := newLeadRig(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if status.Load() == 0 {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(int(status.Load()))
		w.Write(upstreamReply)
	}))
	for i, c := range []struct {
		name   string
		status int
		header string
		begun  int // leads so far
		kept   int // entries at the end of the last one
	}{
		{"kept", 200, "X-A: 1", 1, 1},
		{"a hit", 200, "X-A: 1", 1, 1},
		{"an error", 500, "X-A: 2", 2, 1},
		{"no answer", 0, "X-A: 3", 3, 1},
		{"kept again", 200, "X-A: 4", 4, 2},
		{"directive", 200, "Cache-Control: no-cache", 4, 2},
	} {
		status.Store(int32(c.status))
		r.ask(t, "/v1/chat/completions", chat(capital), c.header)
		eventually(t, c.name, func() bool { begun, over := l.counts(); return over == begun })
		r.counted(t, int64(i+1))
		if begun, over := l.counts(); begun != c.begun || over != c.begun || l.at[len(l.at)-1] != c.kept {
			t.Errorf("%s: %d leads begun, %d over, with %v entries; want %d, the last with %d", c.name, begun, over, l.at, c.begun, c.kept)
		}
	}
}

// TestLeadElsewhere: a request that has waited for another process gets the answer that this one has stored. Where there is none it goes on.
func TestLeadElsewhere(t *testing.T) {
	var calls atomic.Int32
	r, l := newLeadRig(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.Write(upstreamReply)
	}))
	l.elsewhere = func() { r.ask(t, "/v1/chat/completions", chat(capital), "Cache-Control: no-cache") } // takes no lead
	if got := r.ask(t, "/v1/chat/completions", chat(capital)); got.cache() != "exact" || calls.Load() != 1 {
		t.Errorf("%s after %d upstream calls", got.cache(), calls.Load())
	}
	l.elsewhere = func() {}
	if got := r.ask(t, "/v1/chat/completions", chat("another question, which nobody has asked")); got.cache() != "miss" || calls.Load() != 2 {
		t.Errorf("%s after %d upstream calls", got.cache(), calls.Load())
	}
	eventually(t, "the end of both", func() bool { begun, over := l.counts(); return begun == 2 && over == 2 })
}

// TestLeadPanics: a lead ends where the search for its answer panics.
func TestLeadPanics(t *testing.T) {
	r, l := newLeadRig(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(upstreamReply) }))
	x := &work{s: r.Server, r: request{s: r.Server, http: &http.Request{}}, found: &cache.Finding{}}
	x.r.d.MaxAge = -1
	f := r.flights.Solo()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic without a request")
			}
		}()
		x.led(f)
	}()
	if begun, over := l.counts(); begun != 1 || over != 1 {
		t.Errorf("%d leads begun, %d over", begun, over)
	}
}
