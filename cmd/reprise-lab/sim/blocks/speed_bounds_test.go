package blocks

import (
	"math"
	"strings"
	"testing"
)

// TestSpeedBounds: a speed with which a time would not be finite, or servers that have no room in memory, is refused.
func TestSpeedBounds(t *testing.T) {
	for _, c := range []struct {
		speed Speed
		want  string
	}{
		{Speed{Prefill: 1e-300}, "prefill of 1e-300 tokens per second: want more than 0, from 1e-06"},
		{Speed{Prefill: math.NaN()}, "want more than 0"},
		{Speed{Prefill: 1, Fixed: 1e300}, "1e+300 seconds before each first token: want 0 to 1e+06"},
		{Speed{Prefill: 1, Fixed: math.NaN()}, "NaN seconds"},
		{Speed{Prefill: 1, Decode: 1e-300}, "decode of 1e-300"},
		{Speed{Prefill: 1, Swap: -1}, "swap of -1"},
		{Speed{Prefill: 1, Servers: 1e9}, "1000000000 servers: want 0 to 65536"},
	} {
		if err := c.speed.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.speed, err, c.want)
		}
	}
	if err := (&Speed{Prefill: math.Inf(1), Servers: MostServers, Fixed: MostSeconds}).Validate(); err != nil {
		t.Error(err)
	}
}
