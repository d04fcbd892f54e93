package main

import (
	"bytes"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"reprise/cmd/reprise/internal/config"
)

// TestIdleSettingsAreTold: a setting that the policy has no use for is told at the start, and stops nothing.
func TestIdleSettingsAreTold(t *testing.T) {
	for policy, told := range map[string]bool{"": true, "rac-paper:beta=0.5": false} {
		cfg, err := config.NewLoader(false).Load([]string{"REPRISE_STORE=memory", "REPRISE_TOPIC_HALF_LIFE=500", "REPRISE_POLICY=" + policy})
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		s, err := newService(t.Context(), cfg, &url.URL{Scheme: "http", Host: "127.0.0.1:1"}, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		s.close()
		if got := strings.Contains(log.String(), "REPRISE_TOPIC_HALF_LIFE=500 (environment) has no effect: the policy rac+"); got != told {
			t.Errorf("policy %q: log %s", policy, log.String())
		}
	}
}
