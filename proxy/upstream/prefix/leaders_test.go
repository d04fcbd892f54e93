package prefix

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"reprise/proxy/upstream/usage"
)

func waits(t *Ticket) bool {
	if t.Wait() == nil {
		return false
	}
	select {
	case <-t.Wait():
		return false
	default:
		return true
	}
}

// TestLeaders are which requests wait while another one prefills their prefix.
func TestLeaders(t *testing.T) {
	for _, tc := range []struct {
		name          string
		leaders       int
		first, second *Chain
		waits         bool
	}{
		{"a long prefix", 2048, chainOf("a", 2048, "m1"), chainOf("a", 2048, "m2"), true},
		{"a short prefix", 2048, chainOf("a", 2000, "m1"), chainOf("a", 2000, "m2"), false},
		{"equal requests", 2048, chainOf("a", 2048, "m1"), chainOf("a", 2048, "m1"), true},
		{"one continues the other", 2048, chainOf("a", 2048), chainOf("a", 4096), true},
		{"other prefixes", 2048, chainOf("a", 4096), chainOf("b", 4096), false},
		{"switched off", 0, chainOf("a", 2048, "m1"), chainOf("a", 2048, "m2"), false},
		{"less than a block", 1, chainOf("a", 64), chainOf("a", 64), true},
	} {
		f := fleetOf(t, 1, FleetOptions{Leaders: tc.leaders})
		first, second := f.Choose(tc.first, nil), f.Choose(tc.second, nil)
		if waits(first) || waits(second) != tc.waits || (second.leader == first) != tc.waits {
			t.Errorf("%s: the first waits %t, the second %t, want %t", tc.name, waits(first), waits(second), tc.waits)
		}
		first.Answered()
		if waits(second) || second.leader != nil {
			t.Errorf("%s: waits after the answer has begun", tc.name)
		}
		second.Answered()
		if third := f.Choose(tc.second, nil); waits(third) {
			t.Errorf("%s: a later request waits", tc.name)
		}
	}
}

// TestLeaderOfWhatIsCold: what is held already does not count, and a follower waits for the request that prefills its cold part.
func TestLeaderOfWhatIsCold(t *testing.T) {
	f := fleetOf(t, 1, FleetOptions{Leaders: 1024})
	f.Choose(chainOf("a", 4096), nil).Ended(usage.Usage{})
	warm, cold := f.Choose(chainOf("a", 4096, "m1"), nil), f.Choose(chainOf("a", 4096, "m2", "m3"), nil)
	if second := f.Choose(chainOf("a", 4096, "m1"), nil); waits(second) {
		t.Error("a request waits for 512 cold tokens")
	}
	if second := f.Choose(chainOf("a", 4096, "m2", "m3", "m4"), nil); second.leader != cold {
		t.Error("a request does not wait for 1024 cold tokens")
	}
	warm.Ended(usage.Usage{})
}

// TestLeaderFails: of its followers one takes over, and the others wait for that one.
func TestLeaderFails(t *testing.T) {
	f := fleetOf(t, 1, FleetOptions{Leaders: 1024})
	var all []*Ticket
	for i := range 4 {
		all = append(all, f.Choose(chainOf("a", 2048, fmt.Sprint("m", i)), nil))
	}
	check := func(state string, waiting ...bool) {
		t.Helper()
		for i, want := range waiting {
			if waits(all[i]) != want {
				t.Errorf("%s: request %d waits %t", state, i, !want)
			}
		}
	}
	check("at first", false, true, true, true)
	all[1].Failed(false) // its client has left
	check("a follower has left", false, false, true, true)
	all[0].Failed(false)
	check("the leader has failed", false, false, false, true)
	if got := total(f).Held; got != 2048+2*512 {
		t.Errorf("%d tokens are expected of both requests in flight", got)
	}
	if all[3].leader != all[2] {
		t.Error("the last follower does not wait for the new leader")
	}
	if late := f.Choose(chainOf("a", 2048, "late"), nil); late.leader != all[2] {
		t.Error("a later request does not follow the new leader")
	} else {
		late.Failed(false)
	}
	all[2].Ended(usage.Usage{})
	check("the new leader has ended", false, false, false, false)
	all[3].Ended(usage.Usage{})
	if sum := total(f); sum.InFlight != 0 || sum.Pending != 0 || sum.Active != 0 {
		t.Errorf("in the end: %+v", sum)
	}
	if next := f.Choose(chainOf("a", 2048), nil); next.Cached != 2048 {
		t.Errorf("%d tokens are held", next.Cached)
	}
}

// TestFollowerGoesAlone: one that has waited for too long is sent, and leads the others if its leader fails.
func TestFollowerGoesAlone(t *testing.T) {
	f := fleetOf(t, 1, FleetOptions{Leaders: 1024})
	leader, alone, other := f.Choose(chainOf("a", 2048), nil), f.Choose(chainOf("a", 2048, "m1"), nil), f.Choose(chainOf("a", 2048, "m2"), nil)
	leader.Failed(false)
	if other.leader != alone {
		t.Fatal("the follower that was sent does not lead")
	}
	alone.Answered()
	if waits(other) {
		t.Error("a follower waits for nothing")
	}
}

// TestLeadersOfOneMember: a follower waits at its own member only, and not for a request from before a restart.
func TestLeadersOfOneMember(t *testing.T) {
	f := fleetOf(t, 2, FleetOptions{Leaders: 1024})
	c := chainOf("a", 2048)
	f.Choose(c, onlyMember(0))
	if waits(f.Choose(c, onlyMember(1))) {
		t.Error("a request waits for one of another member")
	}
	f.Cleared(0)
	if waits(f.Choose(c, onlyMember(0))) {
		t.Error("a request waits for one from before the restart")
	}
}

// TestFleetConcurrently: whatever happens to concurrent requests, each ends its wait, and in the end none is counted.
func TestFleetConcurrently(t *testing.T) {
	f := fleetOf(t, 3, FleetOptions{Leaders: 256})
	var all sync.WaitGroup
	for worker := range uint64(8) {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(worker, 1))
			for range 300 {
				ticket := f.Choose(chainOf(fmt.Sprint("s", rng.IntN(3)), 512, fmt.Sprint("m", rng.IntN(3))), nil)
				if rng.IntN(4) > 0 && ticket.Wait() != nil {
					<-ticket.Wait()
				}
				switch rng.IntN(10) {
				case 0:
					ticket.Failed(false)
				case 1:
					f.Cleared(ticket.Member)
				case 2:
					f.SetCapacity(ticket.Member, rng.IntN(4000))
				case 4, 5:
					ticket.Answered()
				}
				ticket.Ended(usage.Usage{Prompt: 1000, Cached: rng.IntN(1000), Known: rng.IntN(2) == 0})
			}
		})
	}
	all.Wait()
	if sum := total(f); sum.InFlight != 0 || sum.Pending != 0 || sum.Active != 0 {
		t.Errorf("in the end: %+v", sum)
	}
	for i := range f.members {
		if n := len(f.members[i].leaders); n > 0 {
			t.Errorf("member %d has %d leaders left", i, n)
		}
	}
}
