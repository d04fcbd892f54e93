package config

import (
	"errors"
	"strings"
	"testing"
)

// TestObjective: the objective is passed to the policies that have one, is reported as without effect for the others, and is not set
// twice.
func TestObjective(t *testing.T) {
	for policy, want := range map[string]string{
		"rac+": "", "haz": "", "gdsf": "", "lru": "REPRISE_OBJECTIVE=tokens (environment) has no effect: the policy lru has no parameter value",
		"rac+:value=hits": "both set value: leave one of them out",
	} {
		cfg, err := load(t, []string{"REPRISE_OBJECTIVE=tokens", "REPRISE_POLICY=" + policy})
		if err != nil {
			if want == "" || !errors.Is(err, ErrBad) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", policy, err, want)
			}
			continue
		}
		if idle := strings.Join(cfg.Idle(), "|"); idle != want || cfg.PolicyOptions().Params["value"] != "tokens" {
			t.Errorf("%s: made with %+v, no effect of %q; want %q", policy, cfg.PolicyOptions(), idle, want)
		}
	}
}
