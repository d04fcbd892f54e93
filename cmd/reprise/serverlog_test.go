package main

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"reprise/proxy"
)

// exhausted is a listener of a process without free file descriptors. It is closed after three tries.
type exhausted struct{ tries int }

func (l *exhausted) Accept() (net.Conn, error) {
	if l.tries++; l.tries > 3 {
		return nil, net.ErrClosed
	}
	return nil, &net.OpError{Op: "accept", Net: "tcp", Err: syscall.EMFILE}
}
func (l *exhausted) Close() error   { return nil }
func (l *exhausted) Addr() net.Addr { return &net.TCPAddr{} }

// TestServerLog: a failing Accept is logged at once, but not once per try. A client's broken handshake is not logged.
func TestServerLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		lines := newServerLog(slog.New(slog.NewTextHandler(&out, nil)))
		server := http.Server{ErrorLog: lines}
		if err := server.Serve(&exhausted{}); !errors.Is(err, net.ErrClosed) {
			t.Fatal(err)
		}
		lines.Print("http: TLS handshake error from 192.0.2.1:4711: EOF")
		lines.Print("http: panic serving 192.0.2.1:4711: boom")
		got := out.String()
		if strings.Count(got, "connections cannot be taken") != 1 || !strings.Contains(got, "too many open files") {
			t.Errorf("the log is %q, want one line about connections", got)
		}
		if !strings.Contains(got, "boom") || strings.Contains(got, "handshake") {
			t.Errorf("the log is %q, want the panic and not the handshake", got)
		}
	})
}

// TestStandardLog: what net/http's transport logs of an upstream that sends more than it announced contains no byte of it.
func TestStandardLog(t *testing.T) {
	var out bytes.Buffer
	line := "Unsolicited response received on idle HTTP channel starting with \"the canary's answer\"; err=<nil>\n"
	if n, err := (standardLog{proxy.NewFaultLog(slog.New(slog.NewTextHandler(&out, nil)))}).Write([]byte(line)); n != len(line) || err != nil {
		t.Errorf("write: %d, %v", n, err)
	}
	if got := out.String(); strings.Contains(got, "canary") || !strings.Contains(got, "Unsolicited response") {
		t.Errorf("the log is %q", got)
	}
}
