package fleet

import (
	"testing"

	"reprise/proxy/upstream/prefix"
)

// loadsOf returns the loads of members with full shares.
func loadsOf(loads ...prefix.Load) []prefix.Load {
	for i := range loads {
		loads[i].Member, loads[i].ID, loads[i].Share = i, uint64(i+1), 1
	}
	return loads
}

// TestChoosers: the decisions of other products' choosers in states in which they differ.
func TestChoosers(t *testing.T) {
	for _, tc := range []struct {
		chooser, state string
		loads          []prefix.Load
		want           int
	}{
		{"smg", "the longest prefix", loadsOf(prefix.Load{Cached: 310}, prefix.Load{InFlight: 60, Cached: 400}, prefix.Load{}), 1},
		{"smg", "too short a prefix", loadsOf(prefix.Load{InFlight: 1, Cached: 300}, prefix.Load{}, prefix.Load{InFlight: 1}), 1},
		{"smg", "no balance", loadsOf(prefix.Load{InFlight: 100, Cached: 1000}, prefix.Load{InFlight: 30}, prefix.Load{InFlight: 31}), 1},
		{"smg", "no balance, but all have many", loadsOf(prefix.Load{InFlight: 300, Cached: 1000}, prefix.Load{InFlight: 230}, prefix.Load{InFlight: 231}), 0},
		{"gie", "the prefix is worth more than the queue", loadsOf(prefix.Load{InFlight: 9, Cached: 900, Capacity: 9000}, prefix.Load{Capacity: 9000}, prefix.Load{Capacity: 9000}), 0},
		{"gie", "half a prefix is not", loadsOf(prefix.Load{InFlight: 9, Cached: 500, Capacity: 9000}, prefix.Load{Capacity: 9000}, prefix.Load{Capacity: 9000, InFlight: 1}), 1},
		{"gie", "a KV cache in use", loadsOf(prefix.Load{Cached: 600, Active: 9000, Capacity: 9000}, prefix.Load{Capacity: 9000, InFlight: 0}, prefix.Load{Active: 900, Capacity: 9000}), 1},
		{"dynamo", "the prefix counts twice", loadsOf(prefix.Load{Cached: 500}, prefix.Load{Cached: 999, Active: 900}, prefix.Load{}), 1},
		{"dynamo", "against what is in use", loadsOf(prefix.Load{Cached: 500}, prefix.Load{Cached: 999, Active: 1000}, prefix.Load{}), 0},
		{"dynamo", "and what waits", loadsOf(prefix.Load{Cached: 500, Active: 300, Pending: 300}, prefix.Load{Cached: 300}, prefix.Load{}), 1},
	} {
		c, err := newChooser(tc.chooser, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Choose(&prefix.Request{Tokens: 1000, Key: 99, Conversation: 77, Shared: 500}, tc.loads); got != tc.want {
			t.Errorf("%s, %s: chose %d, want %d", tc.chooser, tc.state, got, tc.want)
		}
	}
}

// TestRandom: a replica with a share of 0.2 gets a fifth of another's requests.
func TestRandom(t *testing.T) {
	c, err := newChooser("random", 5)
	if err != nil {
		t.Fatal(err)
	}
	loads := loadsOf(prefix.Load{}, prefix.Load{}, prefix.Load{})
	loads[1].Share = 0.2
	var got [3]int
	for range 11_000 {
		got[c.Choose(&prefix.Request{}, loads)]++
	}
	if part := float64(got[1]) / 11_000; part < 0.06 || part > 0.11 {
		t.Errorf("%v requests", got)
	}
}

// TestShares: round-robin gives a replica with a share of 0.2 a fifth of another's requests.
func TestShares(t *testing.T) {
	c := new(roundRobin)
	var got [3]int
	for range 11_000 {
		got[c.Choose(&prefix.Request{}, []prefix.Load{{Share: 1}, {Share: 0.2}, {Share: 1}})]++
	}
	if part := float64(got[1]) / 11_000; part < 0.06 || part > 0.11 {
		t.Errorf("%v requests", got)
	}
}
