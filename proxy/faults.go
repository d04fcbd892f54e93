package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"

	"reprise/proxy/cache"
	"reprise/proxy/internal/apierror"
)

// faults counts and logs what goes wrong, and logs requests where that is asked for.
type faults struct {
	metrics  *metrics
	log      *slog.Logger
	repeated *FaultLog // the same log, without repetitions
	prompts  bool      // prompts may be logged
}

// guard runs one step of the cache. An error or a panic in it is reported and never makes the request fail; guard returns
// whether there was none.
func (f *faults) guard(step string, run func() error) (ok bool) {
	defer func() {
		if v := recover(); v != nil {
			f.report(context.Background(), step, fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
			ok = false
		}
	}()
	if err := run(); err != nil {
		f.report(context.Background(), step, err)
		return false
	}
	return true
}

// degraded reports every fault of the cache in err, which may join several.
func (f *faults) degraded(err error) {
	if err == nil {
		return
	}
	var fault *cache.Fault
	switch joined, many := err.(interface{ Unwrap() []error }); {
	case many:
		for _, one := range joined.Unwrap() {
			f.degraded(one)
		}
	case errors.As(err, &fault):
		f.report(context.Background(), fault.Step, fault.Err)
	default:
		f.report(context.Background(), "store", err)
	}
}

// report counts and logs an error of a step. Calls that an open breaker refuses are counted only: the errors that opened it
// have been logged.
func (f *faults) report(ctx context.Context, step string, err error) {
	f.metrics.fault(step)
	if !errors.Is(err, gobreaker.ErrOpenState) && !errors.Is(err, gobreaker.ErrTooManyRequests) {
		f.repeated.Report(ctx, "degraded: "+step, err)
	}
}

// Unobserved reports an observer that has panicked.
func (f *faults) Unobserved(err error) { f.report(context.Background(), "observe", err) }

// Panicked reports a panic in a flight, outside the guarded steps.
func (f *faults) Panicked(v any, stack []byte) {
	f.report(context.Background(), "flight", fmt.Errorf("panic: %v\n%s", v, stack))
}

// logRequest writes one line per keyed request at the debug level.
func (f *faults) logRequest(x *work, result Result) {
	q := &x.r
	ctx := q.http.Context()
	if !f.log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	attrs := []slog.Attr{slog.Int64("request", q.req.At.Seq), slog.String("endpoint", q.family.Name), slog.String("model", q.Model),
		slog.String("result", result.String()), slog.String("key", hexOf(q.Key)[:16])}
	if x.o != nil && several(&x.s.opts) {
		attrs = append(attrs, slog.String("upstream", x.o.reply.Replica.Name()))
	}
	if f.prompts {
		attrs = append(attrs, slog.String("prompt", q.Prompt))
	}
	f.log.LogAttrs(ctx, slog.LevelDebug, "request", attrs...)
}

// logRefused writes one line per error answer at the debug level; a fault behind it has been reported already.
func (f *faults) logRefused(r *http.Request, e *apierror.Error, cause error) {
	if !f.log.Enabled(r.Context(), slog.LevelDebug) {
		return
	}
	f.log.LogAttrs(r.Context(), slog.LevelDebug, "refused", slog.String("path", r.URL.Path), slog.Int("status", e.Status),
		slog.String("code", e.Code), slog.String("error", cause.Error()))
}

// faultInterval is how often a repeated fault is logged.
const faultInterval = 30 * time.Second

// FaultLog logs the first fault of a kind at once and then one line per interval, with the number of lines left out: the log
// about a failed dependency or a full disk must not fill the disk further or use up a core. It is safe for concurrent use.
type FaultLog struct {
	log *slog.Logger

	mu    sync.Mutex // protects kinds
	kinds map[string]*faultPause
}

type faultPause struct {
	until time.Time
	left  int // faults not logged since the last line
}

// NewFaultLog returns a FaultLog that writes to log.
func NewFaultLog(log *slog.Logger) *FaultLog {
	return &FaultLog{log: log, kinds: make(map[string]*faultPause)}
}

// Report logs err as a warning with the message kind, unless a fault of that kind was logged within the interval.
func (l *FaultLog) Report(ctx context.Context, kind string, err error) {
	if left, due := l.due(kind, time.Now()); due {
		l.log.LogAttrs(ctx, slog.LevelWarn, kind, slog.String("error", err.Error()), slog.Int("more_since_last", left))
	}
}

// due reports whether a line is due, and how many of its kind were left out before it.
func (l *FaultLog) due(kind string, now time.Time) (left int, due bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.kinds[kind]
	if p == nil {
		p = &faultPause{}
		l.kinds[kind] = p
	}
	if now.Before(p.until) {
		p.left++
		return 0, false
	}
	left, p.left, p.until = p.left, 0, now.Add(faultInterval)
	return left, true
}
