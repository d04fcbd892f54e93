package panel

import (
	"math/rand/v2"
	"testing"

	"reprise/policy"
)

// TestRACPlusLargeChangesTheLeader: the expert that keeps the first entries leads at the start, and requests move on. The new leader begins
// without entries; what it does not hold goes first, the least recently used before others.
func TestRACPlusLargeChangesTheLeader(t *testing.T) {
	const capacity = 400
	p := newSampled(panelArgs(t, policy.Options{Capacity: capacity}, "sample=100"), [2]member{twoMembers[1], twoMembers[0]})
	l := policy.NewLedger(p, policy.Limit{Entries: capacity})
	r := rand.New(rand.NewPCG(1, 1))
	used, changed := map[policy.ID]int64{}, int64(0)
	for i := int64(1); i <= 20_000; i++ {
		id := policy.ID(1 + i/2)
		if i%2 == 1 {
			id = policy.ID(max(1, 1+i/2-30)) // asked again 30 later
		}
		at := policy.Tick{Seq: i}
		if i%5 == 0 { // purges anywhere
			l.Remove(policy.ID(r.Int64N(1+i/2)), policy.Purged)
		}
		before := p.leads
		used[id] = i
		if l.Has(id) {
			l.Hit(id, at)
		} else {
			l.Insert(policy.Item{ID: id, Topic: policy.TopicID(1 + id%97)}, at, nil)
		}
		if i%50 == 0 || p.leads != before {
			checkPanel(t, &p.full)
		}
		if p.leads == before {
			continue
		}
		changed = i
		if n := p.experts[0].entries; n != 0 {
			t.Fatalf("the new leader starts with %d entries", n)
		}
		victim, _ := p.Victim()
		for other := range used {
			if l.Has(other) && used[other] < used[victim] {
				t.Fatalf("victim %d of request %d, but %d is of %d", victim, used[victim], other, used[other])
			}
		}
	}
	if changed == 0 || l.Faults() != 0 || p.leads != 1 || p.Stats().Leader != 1 {
		t.Errorf("the leader changed at %d to %d, %d faults", changed, p.leads, l.Faults())
	}
	if n := p.experts[0].entries; n != l.Entries() {
		t.Errorf("at the end the leader has %d of %d residents", n, l.Entries())
	}
	for _, x := range p.Stats().Experts {
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
