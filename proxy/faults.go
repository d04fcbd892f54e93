package proxy

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"time"
)

// guarded runs one step of the cache. Whatever goes wrong in it, even a panic, is an event and never the request's
// failure; it reports whether all went well.
func (s *Server) guarded(step string, run func() error) (ok bool) {
	defer func() {
		if v := recover(); v != nil {
			s.fault(context.Background(), step, fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
			ok = false
		}
	}()
	if err := run(); err != nil {
		s.fault(context.Background(), step, err)
		return false
	}
	return true
}

// fault counts and logs what went wrong in a step.
func (s *Server) fault(ctx context.Context, step string, err error) {
	s.metrics.fault(step)
	s.faults.tell(ctx, step, err)
}

// crashed is told of a panic in a flight outside the guarded steps.
func (s *Server) crashed(v any, stack []byte) {
	s.fault(context.Background(), "flight", fmt.Errorf("panic: %v\n%s", v, stack))
}

// faultInterval is how often a step's faults are logged; those between are counted.
const faultInterval = 10 * time.Second

// faultLog logs a step's first fault at once and then one line per interval: a dead dependency under load must not fill
// the disk or burn a core on its log.
type faultLog struct {
	log *slog.Logger

	mu    sync.Mutex // guards steps
	steps map[string]*faultCount
}

type faultCount struct {
	next    time.Time
	skipped int
}

func (l *faultLog) tell(ctx context.Context, step string, err error) {
	now := time.Now()
	l.mu.Lock()
	c := l.steps[step]
	if c == nil {
		if l.steps == nil {
			l.steps = make(map[string]*faultCount)
		}
		c = &faultCount{}
		l.steps[step] = c
	}
	if now.Before(c.next) {
		c.skipped++
		l.mu.Unlock()
		return
	}
	skipped := c.skipped
	c.next, c.skipped = now.Add(faultInterval), 0
	l.mu.Unlock()
	l.log.LogAttrs(ctx, slog.LevelWarn, "degraded", slog.String("step", step), slog.String("error", err.Error()), slog.Int("more_since_last", skipped))
}

// logRequest writes one line per keyed request for whoever has asked for that much; a prompt only where it is allowed.
func (s *Server) logRequest(q *query, result Result) {
	ctx := q.http.Context()
	if !s.log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	attrs := []slog.Attr{slog.Int64("request", q.tick.Seq), slog.String("endpoint", q.Family.String()), slog.String("model", q.Model),
		slog.String("result", result.String()), slog.String("key", hexOf(q.Key)[:16])}
	if s.opts.LogPrompts {
		attrs = append(attrs, slog.String("prompt", q.Prompt))
	}
	s.log.LogAttrs(ctx, slog.LevelDebug, "request", attrs...)
}

// logError logs what a client was refused, for whoever has asked for that much: what is wrong on our side has been told as
// a fault already.
func (s *Server) logError(r *http.Request, api *apiError, err error) {
	if !s.log.Enabled(r.Context(), slog.LevelDebug) {
		return
	}
	s.log.LogAttrs(r.Context(), slog.LevelDebug, "refused", slog.String("path", r.URL.Path), slog.Int("status", api.Status),
		slog.String("code", api.Code), slog.String("error", err.Error()))
}
