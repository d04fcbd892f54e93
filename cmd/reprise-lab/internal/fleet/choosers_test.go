package fleet

import (
	"testing"

	"reprise/proxy/upstream/choose"
)

// loadsOf returns the loads of members with full shares.
func loadsOf(loads ...choose.Load) []choose.Load {
	for i := range loads {
		loads[i].Member, loads[i].ID, loads[i].Share = i, uint64(i+1), 1
	}
	return loads
}

// TestChoosers: the decisions of other products' choosers in states in which they differ.
func TestChoosers(t *testing.T) {
	for _, tc := range []struct {
		chooser, state string
		loads          []choose.Load
		want           int
	}{
		{"smg", "the longest prefix", loadsOf(choose.Load{Cached: 310}, choose.Load{InFlight: 60, Cached: 400}, choose.Load{}), 1},
		{"smg", "too short a prefix", loadsOf(choose.Load{InFlight: 1, Cached: 300}, choose.Load{}, choose.Load{InFlight: 1}), 1},
		{"smg", "no balance", loadsOf(choose.Load{InFlight: 100, Cached: 1000}, choose.Load{InFlight: 30}, choose.Load{InFlight: 31}), 1},
		{"smg", "no balance, but all have many", loadsOf(choose.Load{InFlight: 300, Cached: 1000}, choose.Load{InFlight: 230}, choose.Load{InFlight: 231}), 0},
		{"gie", "the prefix is worth more than the queue", loadsOf(choose.Load{InFlight: 9, Cached: 900, Capacity: 9000}, choose.Load{Capacity: 9000}, choose.Load{Capacity: 9000}), 0},
		{"gie", "half a prefix is not", loadsOf(choose.Load{InFlight: 9, Cached: 500, Capacity: 9000}, choose.Load{Capacity: 9000}, choose.Load{Capacity: 9000, InFlight: 1}), 1},
		{"gie", "a KV cache in use", loadsOf(choose.Load{Cached: 600, Active: 9000, Capacity: 9000}, choose.Load{Capacity: 9000, InFlight: 0}, choose.Load{Active: 900, Capacity: 9000}), 1},
		{"dynamo", "the prefix counts twice", loadsOf(choose.Load{Cached: 500}, choose.Load{Cached: 999, Active: 900}, choose.Load{}), 1},
		{"dynamo", "against what is in use", loadsOf(choose.Load{Cached: 500}, choose.Load{Cached: 999, Active: 1000}, choose.Load{}), 0},
		{"dynamo", "and what waits", loadsOf(choose.Load{Cached: 500, Active: 300, Pending: 300}, choose.Load{Cached: 300}, choose.Load{}), 1},
	} {
		c, err := newChooser(tc.chooser, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Choose(&choose.Request{Tokens: 1000, Key: 99, Conversation: 77, Shared: 500}, tc.loads); got != tc.want {
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
	loads := loadsOf(choose.Load{}, choose.Load{}, choose.Load{})
	loads[1].Share = 0.2
	var got [3]int
	for range 11_000 {
		got[c.Choose(&choose.Request{}, loads)]++
	}
	if part := float64(got[1]) / 11_000; part < 0.06 || part > 0.11 {
		t.Errorf("%v requests", got)
	}
}
