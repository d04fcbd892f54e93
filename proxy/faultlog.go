package proxy

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// faultInterval is how often a fault that lasts is logged.
const faultInterval = 30 * time.Second

// FaultLog logs the first fault of a kind at once and then one line per interval, with how many it left out: a dead
// dependency or a full disk must not fill the disk further, or burn a core, by the log about it. It is safe for concurrent
// use.
type FaultLog struct {
	log *slog.Logger

	mu    sync.Mutex // protects kinds
	kinds map[string]*faultPause
}

type faultPause struct {
	until time.Time
	left  int // out of the log since the last line
}

// NewFaultLog returns a FaultLog that writes to log.
func NewFaultLog(log *slog.Logger) *FaultLog {
	return &FaultLog{log: log, kinds: make(map[string]*faultPause)}
}

// Tell logs err as a warning under the message kind, unless one of its kind was logged a moment ago.
func (l *FaultLog) Tell(ctx context.Context, kind string, err error) {
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
