package policies

import (
	"testing"

	"reprise/internal/policytest"
	"reprise/policy"
)

// TestExpiryIsNoEvidence: what expired and returns continues where it stopped, and moves nothing that adapts.
func TestExpiryIsNoEvidence(t *testing.T) {
	a := newARC(policy.Capacity{Given: 3, N: 3})
	policytest.PlayScript(t, a, "+1 +2 h1 +3")
	a.p = 1
	a.Remove(1, policy.Expired)
	a.Insert(policy.Item{ID: 4, Key: 1}, policy.Tick{Seq: 5})
	if a.link(); a.p != 1 || a.t2.Len != 1 || a.b1.Len()+a.b2.Len() != 0 {
		t.Errorf("ARC: p %v, %d in t2, %d ghosts", a.p, a.t2.Len, a.b1.Len()+a.b2.Len())
	}
	c := newCacheus(8, 1)
	policytest.PlayScript(t, c, "+1 +2 +3")
	room := c.lru.room
	c.Remove(1, policy.Expired)
	c.Insert(policy.Item{ID: 4, Key: 1}, policy.Tick{Seq: 4})
	c.begin()
	if slot, _ := c.slots.Find(4); c.lru.room != room || c.lfu.Key(slot) != 2 || c.weights != [2]float64{0.5, 0.5} {
		t.Errorf("Cacheus: room %d, was %d, count %v, weights %v", c.lru.room, room, c.lfu.Key(slot), c.weights)
	}
}

// TestExpiryKeepsThePlace: what had earned a place in the long list, to which only a return leads, has it again when it returns.
func TestExpiryKeepsThePlace(t *testing.T) {
	e, err := New("2q", policy.Options{Capacity: 4})
	if err != nil {
		t.Fatal(err)
	}
	policytest.PlayScript(t, e, "+1 +2 +3 +4 .")
	e.Insert(policy.Item{ID: 11, Key: 1}, policy.Tick{Seq: 20})
	e.Insert(policy.Item{ID: 12}, policy.Tick{Seq: 21})
	e.Remove(11, policy.Expired)
	e.Insert(policy.Item{ID: 20, Key: 1}, policy.Tick{Seq: 22})
	q := e.(*TwoQ)
	if q.link(); q.lru.Len != 1 {
		t.Error("what expired is a newcomer")
	}
}
