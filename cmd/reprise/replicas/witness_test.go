package replicas_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"reprise/internal/redistest"
)

// A busy machine stops a process for seconds, and what the program does within a fixed time is late then: a purge that Redis has not taken
// after a second is answered with 503, as documented. Such an answer, or a slow one, is a fault of the program unless a witness saw
// the machine late at that moment.

// witness asks the processes of a fleet for what takes them no time, all the time, and notes when that was late.
type witness struct {
	mu   sync.Mutex // guards the rest
	late map[any][]*span
}

// span is from when to when something took; to is zero while it lasts.
type span struct{ from, to time.Time }

// lateness is what a process that is not stopped never takes for an answer from memory.
const lateness, pause = 100 * time.Millisecond, 200 * time.Millisecond

// watch asks until ctx ends. who is a number of a replica, or a server.
func (w *witness) watch(ctx context.Context, who any, ask func()) {
	for ctx.Err() == nil {
		s := &span{from: time.Now()}
		w.mu.Lock()
		w.late[who] = append(w.late[who], s)
		w.mu.Unlock()
		sleep(ctx, pause)
		ask()
		w.mu.Lock()
		s.from, s.to = s.from.Add(pause), time.Now() // the witness itself may be stopped in its pause
		if s.to.Sub(s.from) < lateness {
			w.late[who] = w.late[who][:len(w.late[who])-1]
		}
		w.mu.Unlock()
	}
}

// lateFor is how long, between two moments, one of these was late: the longest of all.
func (w *witness) lateFor(from, to time.Time, of ...any) (longest time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, who := range of {
		sum := time.Duration(0)
		for _, s := range w.late[who] {
			begin, end := s.from, s.to
			if end.IsZero() {
				begin, end = begin.Add(pause), time.Now()
			}
			if end.Sub(begin) >= lateness && begin.Before(to) && end.After(from) {
				sum += earlier(end, to).Sub(later(begin, from))
			}
		}
		longest = max(longest, sum)
	}
	return longest
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// witnessed starts the witness of the replicas.
func (f *fleet) witnessed() {
	for i := range f.urls {
		go f.witness.watch(f.t.Context(), i, func() {
			p := f.replica(i)
			p.Try(f.t.Context(), http.MethodGet, p.Admin+"/healthz", "")
		})
	}
}

// uses makes servers the ones that the witness asks beside the replicas.
func (f *fleet) uses(servers ...*redistest.Server) {
	for _, server := range servers {
		f.servers = append(f.servers, server)
		go f.witness.watch(f.t.Context(), server, func() { server.Do("PING") })
	}
}

// lateFor is how long, between two moments, one of these replicas or Redis was late.
func (f *fleet) lateFor(from, to time.Time, replicas ...int) time.Duration {
	of := slices.Clone(f.servers)
	for _, i := range replicas {
		of = append(of, i)
	}
	return f.witness.lateFor(from, to, of...)
}
