package prefix

import (
	"fmt"
	"slices"
	"testing"

	"reprise/proxy/upstream/usage"
)

// running is what a naive model of a fleet has of a request.
type running struct {
	*Ticket
	answered bool
}

// model adds up what a fleet counts.
type model struct {
	f    *Fleet
	live []running
}

func (m *model) loads() []Load {
	sums := make([]Load, len(m.f.members))
	for _, r := range m.live {
		l := &sums[r.Member]
		l.InFlight++
		l.Active += r.Tokens
		if !r.answered {
			l.Pending += r.Tokens - r.Cached
		}
	}
	return sums
}

// FuzzFleet plays a script of events, and compares the loads with sums over the requests.
func FuzzFleet(f *testing.F) {
	f.Add([]byte("choose, answer, end, fail: all events of a fleet \x00\x01\x02\x03\x04\x05\x06"), byte(0))
	f.Add([]byte{0, 8, 16, 24, 3, 0, 3, 0, 8, 16, 1, 0, 2, 0}, byte(7))
	f.Fuzz(func(t *testing.T, script []byte, chooser byte) {
		c := choosers()[[]string{"prefix", "least-loaded"}[chooser%2]]
		m := &model{f: fleetOf(t, 3, FleetOptions{Chooser: c, Leaders: 256, Seed: uint64(chooser)})}
		for i := 0; i+1 < len(script) && i < 2000; i += 2 {
			m.event(t, script[i], int(script[i+1]))
		}
		for _, r := range m.live {
			r.Ended(usage.Usage{})
			if waits(r.Ticket) {
				t.Fatal("a request waits after its end")
			}
		}
		if sum := total(m.f); sum.InFlight != 0 || sum.Pending != 0 || sum.Active != 0 {
			t.Fatalf("in the end: %+v", sum)
		}
	})
}

func (m *model) event(t *testing.T, kind byte, n int) {
	if kind%8 < 3 || len(m.live) == 0 {
		var c *Chain
		if n%16 > 0 {
			c = chainOf(fmt.Sprint("s", kind/64), 64*(n%16), fmt.Sprint("m", n/16))
		}
		m.live = append(m.live, running{Ticket: m.f.Choose(c, func(member int) float64 { return float64(4-member) / 4 })})
	} else {
		i := n % len(m.live)
		switch r := &m.live[i]; kind % 8 {
		case 3:
			r.Answered()
			r.answered = true
		case 4:
			m.f.Cleared(r.Member)
		case 5:
			m.f.SetCapacity(r.Member, 64*n)
		case 6:
			r.Failed(false)
			m.live = slices.Delete(m.live, i, i+1)
		case 7:
			r.Ended(usage.Usage{Prompt: n, Cached: int(kind), Known: kind > 100})
			m.live = slices.Delete(m.live, i, i+1)
		}
	}
	want := m.loads()
	for i, l := range m.f.Loads() {
		if l.InFlight != want[i].InFlight || l.Pending != want[i].Pending || l.Active != want[i].Active || l.Held > l.Capacity {
			t.Fatalf("member %d: %+v, want %+v", i, l, want[i])
		}
	}
	for _, r := range m.live {
		if waits(r.Ticket) && !slices.ContainsFunc(m.live, func(o running) bool { return o.Ticket == r.leader && !o.answered && !waits(o.Ticket) }) {
			t.Fatal("a request waits for none that is being prefilled")
		}
	}
}
