package kv

import (
	"testing"

	"reprise/policy"
	"reprise/policy/classic"
	"reprise/policy/spec"
)

// specs are the policies of this package by name, and those that they are compared with.
var specs = spec.Set{&WASpec, &WAPlusSpec, &LPCSpec, &HybridSpec, &classic.LRUSpec, &AgingLFUSpec, &GDFSSpec}

func newPolicy(t testing.TB, name string) policy.Evictor {
	t.Helper()
	e, err := specs.New(name, policy.Options{Capacity: 100})
	if err != nil {
		t.Fatal(err)
	}
	return e
}
