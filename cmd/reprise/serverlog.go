package main

import (
	"context"
	"errors"
	"log"
	"log/slog"
	"strings"

	"reprise/proxy"
)

// newServerLog returns a log.Logger for a server of net/http, whose lines go to l.
func newServerLog(l *slog.Logger) *log.Logger {
	return log.New(serverLog{l, proxy.NewFaultLog(l)}, "", 0)
}

// serverLog sorts the log lines of net/http's servers. Faults of clients, such as a broken TLS handshake, are logged at
// debug level. Faults of this machine, such as no free file descriptor for a new connection, are logged as faults.
type serverLog struct {
	log    *slog.Logger
	faults *proxy.FaultLog
}

func (l serverLog) Write(line []byte) (int, error) {
	text := strings.TrimSpace(string(line))
	switch {
	case strings.HasPrefix(text, "http: Accept error"):
		l.faults.Report(context.Background(), "connections cannot be taken", errors.New(strings.TrimPrefix(text, "http: Accept error: ")))
	case strings.HasPrefix(text, "http: panic serving"):
		l.faults.Report(context.Background(), "a request ended in a panic", errors.New(text))
	default:
		l.log.Log(context.Background(), slog.LevelDebug, text)
	}
	return len(line), nil
}

// catchStandardLog sends the lines of the standard log to l. Nothing here writes there, but net/http's transport does, and quotes
// bytes of the answer of an upstream that sent more than the length it announced.
func catchStandardLog(l *slog.Logger) {
	log.SetFlags(0)
	log.SetOutput(standardLog{proxy.NewFaultLog(l)})
}

// standardLog logs each line up to its first quotation mark.
type standardLog struct{ faults *proxy.FaultLog }

func (l standardLog) Write(line []byte) (int, error) {
	text, _, quotes := strings.Cut(strings.TrimSpace(string(line)), `"`)
	if quotes {
		text = strings.TrimSpace(text) + " ... (not logged)"
	}
	l.faults.Report(context.Background(), "connection to a server", errors.New(text))
	return len(line), nil
}
