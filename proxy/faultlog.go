package proxy

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

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
