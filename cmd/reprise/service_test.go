package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"reprise/cmd/reprise/internal/config"
)

// TestUnusedSettingsAreLogged: a setting without effect on the chosen policy is a warning at start, not an error.
func TestUnusedSettingsAreLogged(t *testing.T) {
	for policy, logged := range map[string]bool{"": true, "rac-paper:alpha=0.5": false} {
		cfg, err := config.NewLoader(false).Load([]string{"REPRISE_STORE=memory", "REPRISE_UPSTREAM=http://127.0.0.1:1", "REPRISE_TOPIC_HALF_LIFE=500", "REPRISE_POLICY=" + policy})
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		s, err := newService(t.Context(), cfg, slog.New(slog.NewTextHandler(&log, nil)), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.close(0)
		if got := strings.Contains(log.String(), "REPRISE_TOPIC_HALF_LIFE=500 (environment) has no effect: the policy rac+"); got != logged {
			t.Errorf("policy %q: log %s", policy, log.String())
		}
	}
}
