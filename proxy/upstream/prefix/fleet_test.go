package prefix

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"reprise/proxy/upstream/usage"
)

// chainOf is the chain of a request with a system prompt of some tokens, and of messages of some tokens each.
func chainOf(system string, tokens int, messages ...string) *Chain {
	c := &Chain{}
	c.Begin(1)
	c.Add(System, text(system, tokens))
	for _, m := range messages {
		c.Add(Message, text(m, 512))
	}
	return c
}

func text(name string, tokens int) []byte {
	return []byte(strings.Repeat(name+" ", 4*tokens/(len(name)+1)+1)[:4*tokens])
}

func fleetOf(t testing.TB, n int, o FleetOptions) *Fleet {
	t.Helper()
	var members []Member
	for i := range n {
		members = append(members, Member{Name: fmt.Sprint("engine-", i)})
	}
	return NewFleet(members, o)
}

// total is what all members have in flight; nothing may be left in the end.
func total(f *Fleet) (sum Load) {
	for _, l := range f.Loads() {
		sum.InFlight, sum.Pending, sum.Active, sum.Held = sum.InFlight+l.InFlight, sum.Pending+l.Pending, sum.Active+l.Active, sum.Held+l.Held
	}
	return sum
}

func TestFleetFollowsPrefix(t *testing.T) {
	f := fleetOf(t, 4, FleetOptions{})
	first := f.Choose(chainOf("a", 4096, "m1"), nil)
	if first.Cached != 0 || first.Tokens != 4608 {
		t.Errorf("the first request: %d of %d tokens are cached", first.Cached, first.Tokens)
	}
	if l := f.Loads()[first.Member]; l.InFlight != 1 || l.Pending != 4608 || l.Active != 4608 || l.Held != 4608 {
		t.Errorf("its member: %+v", l)
	}
	first.Answered()
	if l := f.Loads()[first.Member]; l.InFlight != 1 || l.Pending != 0 {
		t.Errorf("after its answer began: %+v", l)
	}
	first.Ended(usage.Usage{Prompt: 5000, Known: true})
	next := f.Choose(chainOf("a", 4096, "m1", "m2"), nil)
	if next.Member != first.Member || next.Cached != 4608 {
		t.Errorf("the next turn: member %d after %d, %d cached", next.Member, first.Member, next.Cached)
	}
	next.Ended(usage.Usage{})
	next.Failed(false)
	next.Answered()
	next.Ended(usage.Usage{})
	if sum := total(f); sum != (Load{Held: 5120}) {
		t.Errorf("in the end: %+v", sum)
	}
}

func onlyMember(only int) func(int) float64 {
	return func(member int) float64 {
		if member == only {
			return 0.1
		}
		return 0
	}
}

func TestFleetExcludes(t *testing.T) {
	for name, chooser := range choosers() {
		f := fleetOf(t, 3, FleetOptions{Chooser: chooser})
		for i := range 30 {
			only := i % 3
			c := chainOf("a", 1000, "m")
			if i%2 == 0 {
				c = nil
			}
			if got := f.Choose(c, onlyMember(only)); got == nil || got.Member != only {
				t.Fatalf("%s: %+v instead of member %d", name, got, only)
			}
		}
		if got := f.Choose(nil, func(int) float64 { return 0 }); got != nil {
			t.Errorf("%s: chose excluded member %d", name, got.Member)
		}
	}
}

// TestFailed: blocks that were never evaluated are removed.
func TestFailed(t *testing.T) {
	f := fleetOf(t, 2, FleetOptions{})
	held := f.Choose(chainOf("a", 1024), nil)
	held.Ended(usage.Usage{})
	f.Choose(chainOf("a", 1024, "m"), nil).Failed(false)
	if sum := total(f); sum != (Load{Held: 1024}) {
		t.Errorf("after the failure: %+v", sum)
	}
}

// TestUsageCorrects: the second reply with less than half of what should be cached removes the rest. An unknown number removes nothing.
func TestUsageCorrects(t *testing.T) {
	f := fleetOf(t, 1, FleetOptions{})
	c := chainOf("a", 6400)
	for i, step := range []struct {
		u    usage.Usage
		held int // after it
	}{
		{usage.Usage{}, 6400},
		{usage.Usage{Prompt: 5000, Cached: 2600, Known: true}, 6400},
		{usage.Usage{Prompt: 5000, Cached: 1000, Known: true}, 6400},
		{usage.Usage{Prompt: 5000, Cached: 5000, Known: true}, 6400}, // as predicted: the first doubt counts no more
		{usage.Usage{Prompt: 5000, Cached: 1000, Known: true}, 6400},
		{usage.Usage{}, 6400},
		{usage.Usage{Prompt: 5000, Cached: 1000, Known: true}, 1280},
		{usage.Usage{Prompt: 5000, Cached: 0, Known: true}, 6400},
		{usage.Usage{Prompt: 5000, Cached: -5000, Known: true}, 0}, // reports that lie
		{usage.Usage{Prompt: 1, Cached: math.MaxInt, Known: true}, 6400},
		{usage.Usage{Prompt: -1, Cached: 0, Known: true}, 6400},
		{usage.Usage{Prompt: 0, Cached: 0, Known: true}, 6400},
		{usage.Usage{Prompt: 5000, Cached: 2400, Known: true}, 6400},
		{usage.Usage{Prompt: 5000, Cached: 2400, Known: true}, 3072},
	} {
		f.Choose(c, nil).Ended(step.u)
		if got := total(f).Held; got != step.held {
			t.Errorf("step %d: %d tokens are held, want %d", i, got, step.held)
		}
	}
}

// TestCleared: after a restart nothing is held, and a request that was sent before adds nothing.
func TestCleared(t *testing.T) {
	f := fleetOf(t, 1, FleetOptions{})
	before, failing, c := f.Choose(chainOf("a", 1024), nil), f.Choose(chainOf("b", 1024), nil), chainOf("a", 1024)
	f.Cleared(0)
	after := f.Choose(chainOf("b", 2048), nil)
	before.Ended(usage.Usage{Prompt: 1024, Known: true})
	failing.Failed(false)
	if got := f.Loads()[0]; got.Held != 2048 || got.InFlight != 1 {
		t.Errorf("after the restart: %+v", got)
	}
	f.Removed(0, after.blocks[8:])
	f.SetCapacity(0, 256)
	if got := f.Loads()[0]; got.Held != 256 || got.Capacity != 256 {
		t.Errorf("after a removal: %+v", got)
	}
	f.SetCapacity(0, 0)
	after.Ended(usage.Usage{})
	if got := f.Choose(c, nil); got.Cached != 0 {
		t.Errorf("%d tokens of a request from before the restart are held", got.Cached)
	}
}

// TestReachIsLearned: where the capacity is not known, the predictions become those of what the replies report. With a capacity that is
// known, nothing is learned.
func TestReachIsLearned(t *testing.T) {
	const actual, rounds = 200, 6000
	for _, capacity := range []int{0, actual * 20 * BlockTokens} {
		f := NewFleet([]Member{{Name: "a", Capacity: capacity}}, FleetOptions{})
		engine, held := newIndex(actual), make([]int, 1)
		rng := rand.New(rand.NewPCG(1, 1))
		predicted, cached := 0, 0
		for round := range rounds {
			c := chainOf(fmt.Sprint("s", rng.IntN(100)), 512, fmt.Sprint("m", rng.IntN(3)))
			ticket := f.Choose(c, nil)
			engine.match(c.Blocks, held)
			engine.insert(0, c.Blocks, true, nil)
			tokens := held[0] * BlockTokens
			ticket.Ended(usage.Usage{Prompt: c.Tokens(), Cached: tokens, Known: true})
			if round > rounds/2 {
				predicted, cached = predicted+ticket.Cached, cached+tokens
			}
		}
		ratio := float64(predicted) / float64(cached)
		if ratio < 0.9 || (ratio < 2) != (capacity == 0) {
			t.Errorf("with a capacity of %d: %d tokens were predicted, %d cached", capacity, predicted, cached)
		}
	}
}

// TestAlone: replies to requests of which nothing was known show whether another proxy sends to the members. At first nothing is known.
func TestAlone(t *testing.T) {
	f := NewFleet([]Member{{Name: "a"}, {Name: "b"}}, FleetOptions{})
	n := 0
	ask := func(cached int, known bool) float64 {
		n++
		c := &Chain{}
		c.Begin(1)
		c.Add(Message, []byte(strings.Repeat(fmt.Sprintf("conversation %d ", n), 300)))
		ticket := f.Choose(c, nil)
		alone := f.request.Alone
		ticket.Ended(usage.Usage{Prompt: c.Tokens(), Cached: cached, Known: known})
		return alone
	}
	if got := ask(0, false); got != 0 {
		t.Errorf("before the first reply: %v", got)
	}
	for range 300 {
		ask(0, false)
	}
	if got := ask(0, false); got != 0 {
		t.Errorf("replies that report nothing: %v", got)
	}
	for range 300 {
		ask(0, true)
	}
	if got := ask(0, true); got < 0.9 {
		t.Errorf("replies without a surprise: %v", got)
	}
	for i := range 300 {
		ask(i%4/3*900, true) // what one of four members has by chance
	}
	if got := ask(0, true); got != 0 {
		t.Errorf("a quarter of the replies report what another proxy has sent: %v", got)
	}
}
