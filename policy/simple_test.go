package policy

import (
	"math"
	"testing"
)

// TestOrders plays one word per request: +5 inserts (+5@3 at offset 3, +5x4 of cost 4), h5 hits, -5 purges, "." evicts.
// What is left is drained.
func TestOrders(t *testing.T) {
	for _, c := range []struct{ policy, script, want string }{
		{"fifo", "+1 +2 +3 h1 h1", "[1 2 3]"},
		{"fifo", "+1 +2 +3 -2 +4", "[1 3 4]"},
	} {
		e, err := New(c.policy, Options{Capacity: 4})
		if err != nil {
			t.Fatal(err)
		}
		playScript(t, e, c.script)
		if got := drain(e); got != c.want {
			t.Errorf("%s %q: %s, want %s", c.policy, c.script, got, c.want)
		}
	}
}

// TestRandomIsFIFOWhereRequestsAreIndependent: a uniform draw keeps an entry as long on average whatever it is, as FIFO
// does. libCacheSim's Random misses less on this trace: its generator has weak low bits.
func TestRandomIsFIFOWhereRequestsAreIndependent(t *testing.T) {
	trace := oracleTrace(t, "zipf075")
	for _, capacity := range []int{100, 1000} {
		fifo := countMisses(&FIFO{}, capacity, trace)
		for seed := range uint64(3) {
			got := countMisses(newRandom(seed), capacity, trace)
			if math.Abs(float64(got-fifo)) > 0.01*float64(fifo) {
				t.Errorf("capacity %d, seed %d: %d misses, FIFO %d", capacity, seed, got, fifo)
			}
		}
	}
}
