package apitest

import (
	"encoding/json"
	"testing"

	"reprise/proxy/canon"
)

// checkSegments: segments are JSON values of the body that do not overlap, and the bytes around each are not part of it.
func checkSegments(t *testing.T, r *canon.Request) {
	t.Helper()
	used := make([]bool, len(r.Body))
	for _, s := range r.Segments {
		raw := s.Of(r.Body)
		if !json.Valid(raw) || raw[0] <= ' ' || raw[len(raw)-1] <= ' ' {
			t.Errorf("segment %+v is %q, not a JSON value", s, raw)
		}
		for i := range raw {
			if used[int(s.Off)+i] {
				t.Fatalf("segment %+v overlaps another", s)
			}
			used[int(s.Off)+i] = true
		}
	}
}
