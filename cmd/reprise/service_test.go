package main

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
	"testing"

	"reprise/cmd/reprise/internal/config"
)

// inProcess returns a service of this process with these settings, which the caller closes.
func inProcess(t *testing.T, log io.Writer, environ ...string) *service {
	t.Helper()
	cfg, err := config.NewLoader(false).Load(environ)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newService(t.Context(), cfg, slog.New(slog.NewTextHandler(log, nil)), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestUnusedSettingsAreLogged: a setting without effect is a warning at the start, not an error.
func TestUnusedSettingsAreLogged(t *testing.T) {
	for key, logged := range map[string]bool{"": true, "sk-1": false} {
		var log bytes.Buffer
		inProcess(t, &log, "REPRISE_STORE=memory", "REPRISE_UPSTREAM=http://127.0.0.1:1", "REPRISE_API_PATHS=/v1/files", "REPRISE_UPSTREAM_KEY="+key).close(0)
		if got := strings.Contains(log.String(), "REPRISE_API_PATHS=/v1/files (environment) has no effect"); got != logged {
			t.Errorf("key %q: log %s", key, log.String())
		}
	}
}
