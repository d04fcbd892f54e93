package registry

import (
	"testing"

	"reprise/internal/policytest"
	"reprise/policy"
)

// FuzzEvictors plays three bytes per call through every policy and checks the rules of the contract.
func FuzzEvictors(f *testing.F) {
	f.Add([]byte("\x00\x01\x00\x00\x02\x01\x01\x01\x00\x04\x02\x01\x02\x01\x00"))
	f.Add([]byte("\x03\x00\x02\x00\x05\x12\x00\x06\x15\x01\x05\x00\x02\x06\x00\x00\x07\x02"))
	f.Add([]byte("\x00\x01\x01\x00\x01\x02\x00\x01\x03\x01\x02\x00\x05\x00\x00\x00\x01\x02\x06\x00\x00\x07\x01\x00\x00\x01\x02\x05\x00\x00"))
	f.Fuzz(func(t *testing.T, script []byte) {
		for _, name := range Names() {
			for _, o := range []policy.Options{{Capacity: 1}, {Capacity: 4, Bytes: true, Seed: 3}} {
				e, err := New(name, o)
				if err != nil {
					t.Fatal(err)
				}
				policytest.PlayBytes(t, name, e, script, nil)
			}
		}
	})
}
