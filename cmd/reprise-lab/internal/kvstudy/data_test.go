package kvstudy

import (
	"os"
	"strings"
	"testing"
)

// TestRecordedFirst: with the public data the recorded traces are played before the generated ones, which alone are called generated.
func TestRecordedFirst(t *testing.T) {
	dir := os.Getenv("REPRISE_DATA")
	if dir == "" {
		t.Skip("REPRISE_DATA is not set: no recorded trace is played")
	}
	if testing.Short() {
		t.Skip("reads large files")
	}
	if err := CheckData(dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"wa": len(recorded), "prefix": 7} {
		s := tiny(0)
		s.Data, s.Shrink = dir, 20
		page, results, err := Run(t.Context(), name, s)
		if err != nil {
			t.Fatal(err)
		}
		complete(t, name, &page)
		seen := map[string]bool{}
		for _, r := range results {
			if !r.Generated {
				seen[r.Trace] = true
			} else if strings.Contains(r.Trace, ".gz") {
				t.Errorf("%s: %s is called generated", name, r.Trace)
			}
		}
		if len(seen) != want || results[len(results)-1].Trace == "" {
			t.Errorf("%s: %d recorded traces, want %d: %v", name, len(seen), want, seen)
		}
		if got := text(t, &page); strings.Contains(got, "All traces are generated") || !strings.Contains(got, "Real traces come first") {
			t.Errorf("%s: the page does not say where its traces are from", name)
		}
	}
}
