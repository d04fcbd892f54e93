package panel

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"reprise/internal/policytest"
	"reprise/policy"
)

// TestForecastIsOfTheLeader: before an answer comes that needs room, the panel foresees what its leader will give up for it. A leader that does
// not say leaves the order of the vote.
func TestForecastIsOfTheLeader(t *testing.T) {
	const capacity = 8
	for leader, name := range []string{"lru", "keep"} {
		p := newFull(panelArgs(t, policy.Options{Capacity: capacity}, "factor=1e6"), twoMembers)
		p.lazy.leader = leader
		r := rand.New(rand.NewPCG(1, 2))
		var resident []policy.ID
		for seq := range int64(2000) {
			at := policy.Tick{Seq: seq + 1}
			if len(resident) > 0 && r.IntN(3) > 0 {
				p.Hit(resident[r.IntN(len(resident))], at)
				continue
			}
			next := policytest.Forecast(p, 3)
			said := len(next) > 0 && strings.HasPrefix(p.Why(next[0]), "a leads: the least recently used")
			if vote, ok := p.Victim(); leader == 1 && ok && (next[0] != vote || p.Why(vote) == "") {
				t.Fatalf("%s: next %v, the vote has %d, why %q", name, next, vote, p.Why(vote))
			}
			id := policy.ID(seq + 1)
			p.Insert(policy.Item{ID: id, Topic: 1}, at)
			if resident = append(resident, id); len(resident) <= capacity {
				continue
			}
			victim, _ := p.Victim()
			if leader == 0 && (victim != next[0] || !said) {
				t.Fatalf("%s: next %v, said %v, victim %d", name, next, said, victim)
			}
			p.Remove(victim, policy.Evicted)
			resident = slices.DeleteFunc(resident, func(id policy.ID) bool { return id == victim })
		}
	}
}
