package registry

import (
	"strings"
	"testing"

	"reprise/policy"
)

func TestEveryPolicyIsDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range List() {
		if p.Says == "" || seen[p.Name] || strings.ContainsAny(p.Name, ":,= ") {
			t.Errorf("policy %q: described %q, seen %v", p.Name, p.Says, seen[p.Name])
		}
		seen[p.Name] = true
		for _, par := range p.Params {
			if par.Says == "" || strings.ContainsAny(par.Name, ":,= ") {
				t.Errorf("parameter %s:%s is not described", p.Name, par.Name)
			}
		}
		if err := Check(p.Name); err != nil {
			t.Errorf("defaults of %s: %v", p.Name, err)
		}
	}
}

func TestPoliciesOfReplaysDoNotServe(t *testing.T) {
	if _, err := New("arc", policy.Options{Capacity: 10}); err == nil || !Replayed("arc") || Replayed("lru") {
		t.Errorf("arc, a policy of replays: %v", err)
	}
}
