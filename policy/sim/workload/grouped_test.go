package workload

import (
	"testing"
)

// TestPublishedTrace demands the check values of the generator's publication: seed 1, its defaults, and long .9.
func TestPublishedTrace(t *testing.T) {
	for _, c := range []struct {
		spec string
		want Reuse
	}{
		{"syn", Reuse{Unique: 5324, Reuses: 4676, Long: 2352}},
		{"syn:long=0.9", Reuse{Unique: 1446, Reuses: 8554, Long: 7589}},
	} {
		s, err := Generate(c.spec, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := Measure(s.All, 1000); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.spec, got, c.want)
		}
		t.Log(s.All[len(s.All)-1])
	}
}
