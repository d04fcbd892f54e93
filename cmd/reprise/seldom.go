package main

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// seldomInterval is how often a fault that lasts is logged.
const seldomInterval = 30 * time.Second

// seldom logs the first fault of a kind at once and then one line per interval, with how many it left out: a full disk
// must not be filled further by the log about it.
type seldom struct {
	log *slog.Logger
	now func() time.Time

	mu    sync.Mutex // guards kinds
	kinds map[string]*pause
}

type pause struct {
	until time.Time
	left  int // out of the log since the last line
}

func newSeldom(log *slog.Logger) *seldom {
	return &seldom{log: log, now: time.Now, kinds: map[string]*pause{}}
}

// error logs a fault; its kind is the message.
func (s *seldom) error(kind, fault string) {
	if left, due := s.due(kind); due {
		s.log.Error(kind, "error", fault, "more_since_last", left)
	}
}

// due reports whether a line is due, and how many of its kind were left out before it.
func (s *seldom) due(kind string) (left int, due bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.kinds[kind]
	if p == nil {
		p = &pause{}
		s.kinds[kind] = p
	}
	now := s.now()
	if now.Before(p.until) {
		p.left++
		return 0, false
	}
	left, p.left, p.until = p.left, 0, now.Add(seldomInterval)
	return left, true
}

// serverLog takes the lines of net/http's servers. What strangers do to a connection, such as a broken handshake, is for
// whoever has asked for that much; what is wrong on this machine, such as no file descriptor left for a new connection, is
// for everybody.
type serverLog struct{ faults *seldom }

func (l serverLog) Write(line []byte) (int, error) {
	text := strings.TrimSpace(string(line))
	switch {
	case strings.HasPrefix(text, "http: Accept error"):
		l.faults.error("connections cannot be taken", strings.TrimPrefix(text, "http: Accept error: "))
	case strings.HasPrefix(text, "http: panic serving"):
		l.faults.error("a request ended in a panic", text)
	default:
		l.faults.log.Log(context.Background(), slog.LevelDebug, text)
	}
	return len(line), nil
}
