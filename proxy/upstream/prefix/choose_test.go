package prefix

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"reprise/proxy/upstream/usage"
)

// loadsOf are those of members whose ids are their places. Missing shares are 1.
func loadsOf(loads ...Load) []Load {
	for i := range loads {
		loads[i].Member, loads[i].ID = i, uint64(i+1)
		if loads[i].Share == 0 {
			loads[i].Share = 1
		}
	}
	return loads
}

// choosers returns new choosers by their names.
func choosers() map[string]Chooser {
	return map[string]Chooser{"prefix": &ByPrefix{}, "least-loaded": &LeastLoaded{}}
}

// ownerOf is the first of n members for a key.
func ownerOf(key Block, n int) int {
	loads := loadsOf(make([]Load, n)...)
	return owner(key, loads, boundOf(loads, 1.25, 0))
}

// TestChoosers are the decisions of each chooser in states in which they differ.
func TestChoosers(t *testing.T) {
	const key, conversation, tokens = 99, 77, 1000
	first := ownerOf(key, 3)
	idle := func() []Load { return loadsOf(Load{}, Load{}, Load{}) }
	busy := func(change func(owner *Load)) []Load {
		loads := loadsOf(Load{InFlight: 4}, Load{InFlight: 4}, Load{InFlight: 4})
		change(&loads[first])
		return loads
	}
	full := func(held int) []Load { // what the others hold
		loads := loadsOf(Load{Capacity: 9000, Held: held}, Load{Capacity: 9000, Held: held}, Load{Capacity: 9000, Held: held})
		loads[first].Held = 8500
		return loads
	}
	cached := func(at int) []Load {
		loads := idle()
		loads[at].Cached, loads[at].Pending = 512, 1500
		return loads
	}
	for _, tc := range []struct {
		chooser, state string
		loads          []Load
		want           int
	}{
		{"prefix", "all are cold: the owner", idle(), first},
		{"prefix", "all are cold, and the owner has less to do than the scaffold is worth", busy(func(l *Load) { l.Pending = 1400 }), first},
		{"prefix", "all are cold, and the owner has much to do", busy(func(l *Load) { l.Pending = 1600 }), firstWithout(conversation, 3, first)},
		{"prefix", "all are cold, and the owner has no room", full(8000), firstWithout(key, 3, first)},
		{"prefix", "all are cold, and none has room", full(8100), first},
		{"prefix", "another one holds the scaffold, and has a queue", cached((first + 1) % 3), ownerOf(conversation, 3)},
		{"prefix", "another one holds the scaffold", loadsOf(Load{Cached: 512}, Load{}, Load{}), 0},
		{"prefix", "a scaffold is held, and nothing of the conversation", loadsOf(Load{Cached: 512}, Load{Cached: 512}, Load{Cached: 512}), ownerOf(conversation, 3)},
		{"prefix", "a few more requests than its part", loadsOf(Load{Cached: 600}, Load{InFlight: 7, Cached: 800}, Load{}), 1},
		{"prefix", "the prefix is worth more than an idle replica", loadsOf(Load{}, Load{InFlight: 1, Cached: 800}, Load{InFlight: 2}), 1},
		{"prefix", "the queue is longer than the prefix is worth", loadsOf(Load{InFlight: 2}, Load{InFlight: 3, Cached: 800, Pending: 5000}, Load{InFlight: 3}), 0},
		{"prefix", "the longest prefix is at a replica over its limit", loadsOf(Load{InFlight: 1, Cached: 600}, Load{InFlight: 40, Cached: 800}, Load{InFlight: 1}), 0},
		{"prefix", "the longest prefix is at a replica that starts slowly", loadsOf(Load{InFlight: 4, Cached: 640}, Load{InFlight: 2, Cached: 1000, Share: 0.1}, Load{InFlight: 5}), 0},
		{"least-loaded", "the fewest requests", loadsOf(Load{InFlight: 5}, Load{InFlight: 3, Pending: 9000}, Load{InFlight: 4, Cached: 1000}), 1},
		{"least-loaded", "for its share", loadsOf(Load{InFlight: 5}, Load{InFlight: 1, Share: 0.1}, Load{InFlight: 6}), 0},
	} {
		t.Run(tc.chooser+"/"+tc.state, func(t *testing.T) {
			c := choosers()[tc.chooser]
			if got := c.Choose(&Request{Tokens: tokens, Key: key, Conversation: conversation, Shared: 500}, tc.loads); got != tc.want {
				t.Errorf("chose %d, want %d", got, tc.want)
			}
		})
	}
}

// firstWithout is the first of n members for a key without one of them.
func firstWithout(key Block, n, without int) int {
	loads := loadsOf(make([]Load, n)...)
	loads[without].InFlight = 1000
	return owner(key, loads, boundOf(loads, 1.25, 0))
}

// anyLoads are random ones.
func anyLoads(rng *rand.Rand) []Load {
	loads := make([]Load, 1+rng.IntN(9))
	for i := range loads {
		loads[i] = Load{InFlight: rng.IntN(20), Pending: rng.IntN(9000), Active: rng.IntN(90_000), Cached: rng.IntN(2) * rng.IntN(5000), Capacity: 500_000, Share: 1}
		if rng.IntN(4) == 0 {
			loads[i].Share = 0.05 + 0.95*rng.Float64()
		}
	}
	return loadsOf(loads...)
}

// TestBoundedLoad: a request is never sent to a replica over its limit, and one is always below.
func TestBoundedLoad(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		loads, r := anyLoads(rng), Request{Tokens: rng.IntN(6000), Key: Block(rng.Uint64()), Conversation: Block(rng.Uint64()), Shared: rng.IntN(3000)}
		if got := new(ByPrefix).Choose(&r, loads); !boundOf(loads, prefixBalance, prefixRoots).allows(&loads[got]) {
			t.Fatalf("chose %d of %+v", got, loads)
		}
	}
}

// TestBoundedLoadInFleet: with equal shares, no member has more than the bound allows for its part of the requests in flight, rounded up,
// when it gets one.
func TestBoundedLoadInFleet(t *testing.T) {
	for _, n := range []int{1, 2, 4, 9} {
		checkBounded(t, rand.New(rand.NewPCG(2, 2)), fleetOf(t, n, FleetOptions{}), n, prefixBalance, prefixRoots)
	}
}

func checkBounded(t *testing.T, rng *rand.Rand, f *Fleet, n int, factor, roots float64) {
	var running []*Ticket
	for range 3000 {
		if len(running) > 0 && rng.IntN(5) < 2 || len(running) > 100 {
			i := rng.IntN(len(running))
			running[i].Ended(usage.Usage{})
			running[i] = running[len(running)-1]
			running = running[:len(running)-1]
			continue
		}
		ticket := f.Choose(chainOf(fmt.Sprint("s", rng.IntN(3)), 512, fmt.Sprint("m", rng.IntN(20))), nil)
		running = append(running, ticket)
		part := float64(len(running)) / float64(n)
		most := int(math.Ceil(max(factor*part, part+roots*math.Sqrt(part))))
		if got := f.Loads()[ticket.Member].InFlight; got > most {
			t.Fatalf("member %d of %d has %d of %d requests, at most %d are allowed", ticket.Member, n, got, len(running), most)
		}
	}
}

// TestOwnersAreStable: a replica that is added takes keys from the others, and moves none between them.
func TestOwnersAreStable(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	const keys = 20_000
	moved, of := 0, [5]int{}
	for range keys {
		key := Block(rng.Uint64())
		before, after := ownerOf(key, 4), ownerOf(key, 5)
		if of[before]++; before == after {
			continue
		}
		if moved++; after != 4 {
			t.Fatalf("a key moved from %d to %d", before, after)
		}
	}
	if moved < keys*17/100 || moved > keys*23/100 {
		t.Errorf("%d of %d keys moved", moved, keys)
	}
	for member, n := range of[:4] {
		if n < keys*23/100 || n > keys*27/100 {
			t.Errorf("member %d owns %d of %d keys", member, n, keys)
		}
	}
}

// TestFleetsAgree: two proxies with the same upstreams, in any order, choose the same replicas for cold requests.
func TestFleetsAgree(t *testing.T) {
	names := [2][]string{{"a", "b", "c", "d"}, {"d", "b", "a", "c"}}
	var fleets [2]*Fleet
	for i := range fleets {
		var members []Member
		for _, name := range names[i] {
			members = append(members, Member{Name: name})
		}
		fleets[i] = NewFleet(members, FleetOptions{Seed: 7})
	}
	for n := range 500 {
		var got [2]string
		for i, f := range fleets {
			ticket := f.Choose(chainOf(fmt.Sprint("scaffold", n), 512, "m"), nil)
			got[i] = names[i][ticket.Member]
			ticket.Ended(usage.Usage{})
		}
		if got[0] != got[1] {
			t.Fatalf("request %d goes to %s and %s", n, got[0], got[1])
		}
	}
}
