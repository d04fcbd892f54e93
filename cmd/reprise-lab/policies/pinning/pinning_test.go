package pinning_test

import (
	"testing"

	"reprise/cmd/reprise-lab/policies"
	"reprise/cmd/reprise-lab/policies/kv"
	"reprise/cmd/reprise-lab/policies/pinning"
	"reprise/internal/policytest"
	"reprise/policy"
)

// TestPinnedIsLazy: an entry leaves the inner policy only when it is named, and comes back at its last Unpin.
func TestPinnedIsLazy(t *testing.T) {
	fifo := &policies.FIFO{}
	p := pinning.Pinned(fifo)
	policytest.PlayScript(t, p, "+1 +2 +3")
	p.Pin(1)
	p.Pin(1)
	p.Pin(3)
	p.Unpin(3, policy.Tick{Seq: 4})
	policytest.WantVictim(t, fifo, 1, true) // so far nothing was named
	policytest.WantVictim(t, p, 2, true)
	p.Unpin(1, policy.Tick{Seq: 5})
	policytest.WantVictim(t, p, 2, true)
	p.Unpin(1, policy.Tick{Seq: 6})
	if got := policytest.Drain(p); got != "[2 3 1]" {
		t.Errorf("victims %s, want the one that was taken out as the youngest", got)
	}
}

// TestPinnedKeepsTheItem: what is inserted again has the cost and size of before, and what the last request changed.
func TestPinnedKeepsTheItem(t *testing.T) {
	inner := &noted{}
	p := pinning.Pinned(inner)
	p.Insert(policy.Item{ID: 1, Size: 3, Cost: 4, Offset: 1}, policy.Tick{Seq: 1})
	p.Evictor.(pinning.Contextual).HitIn(policy.Item{ID: 1, Category: 2, Offset: 7, Prob: .5}, policy.Tick{Seq: 1})
	p.Pin(1)
	policytest.WantVictim(t, p, 0, false)
	p.Unpin(1, policy.Tick{Seq: 9})
	policytest.WantVictim(t, p, 1, true)
	want := policy.Item{ID: 1, Size: 3, Cost: 4, Category: 2, Offset: 7, Prob: .5}
	if got := inner.inserted[1:]; len(got) != 1 || got[0] != want {
		t.Errorf("inserted again: %+v, want %+v", got, want)
	}
}

// noted is a FIFO that notes what is inserted.
type noted struct {
	policies.FIFO
	inserted []policy.Item
}

func (n *noted) Insert(it policy.Item, at policy.Tick) {
	n.inserted = append(n.inserted, it)
	n.FIFO.Insert(it, at)
}

// TestPinsKeepUses: an entry that was pinned when it had the fewest uses has them all after it, and is the last used of its equals.
func TestPinsKeepUses(t *testing.T) {
	for _, name := range []string{"lfu", "gdsf", "aging-lfu:w=1000"} {
		e, err := policies.New(name, policy.Options{Capacity: 9})
		if err != nil {
			t.Fatal(err)
		}
		p := pinning.Pinned(e)
		policytest.PlayScript(t, p, "+1 +2 +3 +4 h1 h2 h3 h3 h4 h4 h4")
		p.Pin(1)
		p.Pin(1)
		policytest.WantVictim(t, p, 2, true) // 1 is passed over, not forgotten
		p.Unpin(1, policy.Tick{Seq: 20})
		policytest.WantVictim(t, p, 2, true)
		p.Insert(policy.Item{ID: 5}, policy.Tick{Seq: 21})
		p.Pin(5)
		p.Unpin(1, policy.Tick{Seq: 22})
		p.Unpin(5, policy.Tick{Seq: 23})
		if got := policytest.Drain(p); got != "[5 2 1 3 4]" {
			t.Errorf("%s: victims %s, want those with fewer uses first", name, got)
		}
	}
}

// TestNewestGoesOnceReleased: a block cache asks for a victim before it inserts, so that the newest entry can be the one of fewest uses.
func TestNewestGoesOnceReleased(t *testing.T) {
	for _, name := range []string{"lfu", "aging-lfu:w=1000"} {
		e, err := policies.New(name, policy.Options{Capacity: 9})
		if err != nil {
			t.Fatal(err)
		}
		p := pinning.Pinned(e)
		policytest.PlayScript(t, p, "+1 h1 +2")
		p.Pin(2)
		p.Unpin(2, policy.Tick{Seq: 9})
		policytest.WantVictim(t, p, 2, true)
	}
}

// TestPinnedIsThePinner: a policy that can pin is not wrapped.
func TestPinnedIsThePinner(t *testing.T) {
	g := kv.NewGDSF(policy.Hits)
	if p := pinning.Pinned(g); p.Evictor != policy.Evictor(g) || p.Pinner != pinning.Pinner(g) {
		t.Errorf("%T and %T for a GDSF", p.Evictor, p.Pinner)
	}
}
