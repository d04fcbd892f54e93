package classic

import (
	"testing"

	"reprise/internal/policytest"
	"reprise/policy"
	"reprise/policy/spec"
)

// TestExpiryIsNoEvidence: what expired and returns continues where it stopped, and moves nothing that adapts.
func TestExpiryIsNoEvidence(t *testing.T) {
	a := newARC(capacity{given: 3, n: 3})
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
	g := newGDSF(spec.Hits)
	policytest.PlayScript(t, g, "+1 +2 +3")
	if g.Remove(1, policy.Expired); g.floor != 0 {
		t.Errorf("GDSF: floor %v", g.floor)
	}
}

// TestExpiryKeepsThePlace: what had earned a place in the long list has it again when it returns.
func TestExpiryKeepsThePlace(t *testing.T) {
	place := map[string]func(policy.Evictor) bool{
		"2q": func(e policy.Evictor) bool { return e.(*TwoQ).lru.Len == 1 },
		"s3fifo": func(e policy.Evictor) bool {
			s := e.(*S3FIFO)
			return s.slots.Cells[s.staged].Val.main
		},
		"lirs": func(e policy.Evictor) bool { return e.(*LIRS).staged.returned },
	}
	for name, script := range map[string]string{
		"2q":     "+1 +2 +3 +4 .",
		"s3fifo": "+1 h1 h1 +2 +3 +4 .",
		"lirs":   "+2 +1 +3 h1",
	} {
		e, err := specs.New(name, policy.Options{Capacity: 4})
		if err != nil {
			t.Fatal(err)
		}
		policytest.PlayScript(t, e, script)
		if name == "2q" { // only a return leads to its long list
			e.Insert(policy.Item{ID: 11, Key: 1}, policy.Tick{Seq: 20})
			e.Insert(policy.Item{ID: 12}, policy.Tick{Seq: 21})
			e.Remove(11, policy.Expired)
		} else {
			e.Remove(1, policy.Expired)
		}
		e.Insert(policy.Item{ID: 20, Key: 1}, policy.Tick{Seq: 22})
		if q, ok := e.(*TwoQ); ok {
			q.link()
		}
		if !place[name](e) {
			t.Errorf("%s: what expired is a newcomer", name)
		}
	}
}
