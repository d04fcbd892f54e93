package rac

import (
	"testing"

	"reprise/internal/policytest"
)

// FuzzInvariants plays three bytes per call through RAC with many options, and checks every invariant after each.
func FuzzInvariants(f *testing.F) {
	f.Add([]byte("\x00\x01\x00\x00\x02\x01\x01\x01\x00\x04\x02\x01\x02\x01\x00"))
	f.Add([]byte("\x03\x00\x02\x00\x05\x12\x00\x06\x15\x01\x05\x00\x02\x06\x00\x00\x07\x02"))
	f.Fuzz(func(t *testing.T, script []byte) {
		for _, o := range append(probes(), Options{Alpha: 0.3, Lambda: 4, Ghosts: 2}, Tuned(4), paper()) {
			r := New(o)
			policytest.PlayBytes(t, "rac", r, script, func() { checkRAC(t, r) })
		}
	})
}
