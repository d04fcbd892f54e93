package kv

import (
	"testing"

	"reprise/policy"
	"reprise/policy/classic"
)

// specs are the policies of this package by name, and those that they are compared with.
var specs = policy.Set{&WASpec, &WAPlusSpec, &LPCSpec, &HybridSpec, &classic.LRUSpec, &AgingLFUSpec, &GDFSSpec}

func newPolicy(t testing.TB, name string) policy.Evictor {
	t.Helper()
	e, err := specs.New(name, policy.Options{Capacity: 100})
	if err != nil {
		t.Fatal(err)
	}
	return e
}
