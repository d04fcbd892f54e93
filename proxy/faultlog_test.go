package proxy

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestFaultLog: a fault that lasts is logged once per interval, with the number of lines left out.
func TestFaultLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := NewFaultLog(slog.New(slog.NewTextHandler(&out, nil)))
		for range 100 { // two a second
			l.Report(t.Context(), "store: write", errors.New("no space left on device"))
			time.Sleep(500 * time.Millisecond)
		}
		l.Report(t.Context(), "store: load", errors.New("another kind"))
		got := out.String()
		for text, want := range map[string]int{"store: write": 2, "more_since_last=0": 2, "more_since_last=59": 1, "store: load": 1} {
			if n := strings.Count(got, text); n != want {
				t.Errorf("%q is logged %d times, want %d:\n%s", text, n, want, got)
			}
		}
	})
}
