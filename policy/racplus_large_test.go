package policy

import (
	"math/rand/v2"
	"testing"
)

// TestRACPlusLargeChangesTheLeader: the expert that keeps the first entries leads at the start, and requests move on.
func TestRACPlusLargeChangesTheLeader(t *testing.T) {
	const capacity = 400
	p := newRACPlusLarge(panelArgs(t, Options{Capacity: capacity}, "sample=100"), []seat{twoSeats[1], twoSeats[0]})
	if got := p.mini.experts[0].score; got != 0.02*capacity/4 {
		t.Errorf("a prior of %v in shadows of a quarter, want %v", got, 0.02*capacity/4)
	}
	l := NewLedger(p, Limit{Entries: capacity})
	r := rand.New(rand.NewPCG(1, 1))
	told, steps, changed := 0, 0, int64(0)
	for i := int64(1); i <= 20_000; i++ {
		id := ID(1 + i/2)
		if i%2 == 1 {
			id = ID(max(1, 1+i/2-30)) // asked again 30 later
		}
		at := Tick{Seq: i}
		if i%3 == 0 { // hits and purges anywhere, also of what is to be told next
			l.Hit(ID(r.Int64N(1+i/2)), at)
			l.Hit(p.cells[p.cursor].id, at)
		}
		if i%5 == 0 {
			l.Remove(ID(r.Int64N(1+i/2)), Purged)
			l.Remove(p.cells[p.cursor].id, Purged)
		}
		if l.Has(id) {
			l.Hit(id, at)
		} else {
			l.Insert(Item{ID: id, Topic: TopicID(1 + id%97)}, at, nil)
		}
		heir, filling := p.heir.evictor.(*LRU)
		if filling {
			if n := heir.slab.len(); n > told+3*fillStep { // up to three requests
				t.Fatalf("request %d told the heir of %d entries", i, n-told)
			}
			steps++
			told = heir.slab.len()
		}
		if leader, ok := p.leader.evictor.(*LRU); ok && changed == 0 {
			changed = i
			if leader.slab.len() != l.Entries() {
				t.Fatalf("the new leader knows %d of %d residents", leader.slab.len(), l.Entries())
			}
		}
	}
	if changed == 0 || steps < 10 || l.Faults() != 0 {
		t.Errorf("the leader changed at %d in %d steps, %d faults", changed, steps, l.Faults())
	}
	for i, x := range p.Stats().Experts {
		if (x.Weight == 1) != (i == 1) {
			t.Errorf("%s has weight %v", x.Name, x.Weight)
		}
		if x.Entries > capacity/4 {
			t.Errorf("%s: %d entries in the small shadow", x.Name, x.Entries)
		}
	}
}

// TestRACPlusSamplesByTopic: all of a topic or nothing is seen, and a k-th of the topics.
func TestRACPlusSamplesByTopic(t *testing.T) {
	p := newRACPlusLarge(panelArgs(t, Options{Capacity: 800}, "sample=100"), twoSeats)
	topics, items := 0, 0
	for i := range uint64(8000) {
		if p.sampled(TopicID(i+1), i) {
			topics++
			if !p.sampled(TopicID(i+1), 7*i) {
				t.Fatal("a topic is seen in part")
			}
		}
		if p.sampled(0, i) {
			items++
		}
	}
	if topics < 900 || topics > 1100 || items < 900 || items > 1100 {
		t.Errorf("%d topics and %d items of 8000 are in a sample of an eighth", topics, items)
	}
}
