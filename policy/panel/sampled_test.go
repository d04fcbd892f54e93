package panel

import (
	"math/rand/v2"
	"testing"

	"reprise/policy"
)

// TestRACPlusLargeChangesTheLeader: the expert that keeps the first entries leads at the start, and requests move on.
func TestRACPlusLargeChangesTheLeader(t *testing.T) {
	const capacity = 400
	p := newSampled(panelArgs(t, policy.Options{Capacity: capacity}, "sample=100"), []member{twoMembers[1], twoMembers[0]})
	l := policy.NewLedger(p, policy.Limit{Entries: capacity})
	r := rand.New(rand.NewPCG(1, 1))
	copied, steps, changed := 0, 0, int64(0)
	for i := int64(1); i <= 20_000; i++ {
		id := policy.ID(1 + i/2)
		if i%2 == 1 {
			id = policy.ID(max(1, 1+i/2-30)) // asked again 30 later
		}
		at := policy.Tick{Seq: i}
		if i%3 == 0 { // hits and purges anywhere, also of the entry to be copied next
			l.Hit(policy.ID(r.Int64N(1+i/2)), at)
			l.Hit(p.at(p.cursor).id, at)
		}
		if i%5 == 0 {
			l.Remove(policy.ID(r.Int64N(1+i/2)), policy.Purged)
			l.Remove(p.at(p.cursor).id, policy.Purged)
		}
		if l.Has(id) {
			l.Hit(id, at)
		} else {
			l.Insert(policy.Item{ID: id, Topic: policy.TopicID(1 + id%97)}, at, nil)
		}
		successor, filling := p.successor.evictor.(*countedLRU)
		if filling {
			if n := len(successor.residents); n > copied+3*fillStep { // up to three requests
				t.Fatalf("request %d copied %d entries", i, n-copied)
			}
			steps++
			copied = len(successor.residents)
		}
		if leader, ok := p.leader.evictor.(*countedLRU); ok && changed == 0 {
			changed = i
			if len(leader.residents) != l.Entries() {
				t.Fatalf("the new leader has %d of %d residents", len(leader.residents), l.Entries())
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
	p := newSampled(panelArgs(t, policy.Options{Capacity: 800}, "sample=100"), twoMembers)
	topics, items := 0, 0
	for i := range uint64(8000) {
		if p.sampled(policy.TopicID(i+1), i) {
			topics++
			if !p.sampled(policy.TopicID(i+1), 7*i) {
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
