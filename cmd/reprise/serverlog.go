package main

import (
	"context"
	"errors"
	"log"
	"log/slog"
	"strings"

	"reprise/proxy"
)

// newServerLog makes of log what a server of net/http wants.
func newServerLog(l *slog.Logger) *log.Logger {
	return log.New(serverLog{l, proxy.NewFaultLog(l)}, "", 0)
}

// serverLog takes the lines of net/http's servers. What strangers do to a connection, such as a broken handshake, is for
// whoever has asked for that much; what is wrong on this machine, such as no file descriptor left for a new connection, is
// for everybody.
type serverLog struct {
	log    *slog.Logger
	faults *proxy.FaultLog
}

func (l serverLog) Write(line []byte) (int, error) {
	text := strings.TrimSpace(string(line))
	switch {
	case strings.HasPrefix(text, "http: Accept error"):
		l.faults.Tell(context.Background(), "connections cannot be taken", errors.New(strings.TrimPrefix(text, "http: Accept error: ")))
	case strings.HasPrefix(text, "http: panic serving"):
		l.faults.Tell(context.Background(), "a request ended in a panic", errors.New(text))
	default:
		l.log.Log(context.Background(), slog.LevelDebug, text)
	}
	return len(line), nil
}
