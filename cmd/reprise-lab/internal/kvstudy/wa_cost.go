package kvstudy

import (
	"fmt"
	"math"
	"math/rand/v2"

	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/policies"
	"reprise/policy"
)

// cost is the time of one eviction.
type cost struct {
	policy string
	nanos  float64
}

const (
	costBlocks   = 1_000_000 // resident
	costRequest  = 100       // blocks of a request
	costMeasured = 50_000    // evictions of a round
	costRounds   = 10        // the fastest counts: the others had the machine less for themselves
	costKinds    = 5         // by eight turns: 40 categories
)

// waCosts measures evictions: the choice of the victim, its removal, and the insertion of the next block.
func (l *lab) waCosts(s *wild) error {
	for i, name := range costPolicies {
		if err := l.ctx.Err(); err != nil {
			return err
		}
		nanos, err := l.cost(name)
		if err != nil {
			return err
		}
		s.costs = append(s.costs, cost{name, nanos})
		if l.Progress != nil {
			l.Progress("cost of evictions", i+1, len(costPolicies))
		}
	}
	return nil
}

var costPolicies = []string{"lru", "gdfs", agingPaper, "lpc", "wa"}

func (l *lab) cost(name string) (nanos float64, err error) {
	resident, measured := costBlocks/l.factor(), costMeasured/l.factor()
	e, err := policies.New(name, policy.Options{Capacity: resident, Seed: l.Seeds[0]})
	if err != nil {
		return 0, err
	}
	rng := rand.New(rand.NewPCG(l.Seeds[0], 0xC057))
	at, id := policy.Tick{}, policy.ID(0)
	requests := func(blocks int, evict bool) {
		for range blocks / costRequest {
			at.Seq, at.At = at.Seq+1, at.At+0.2*rng.ExpFloat64()
			it := policy.Item{Category: policy.CategoryOf(uint16(rng.IntN(costKinds)), 1+rng.IntN(policy.MostTurns)), Prob: rng.Float64(), Size: 16, Cost: 16}
			for offset := costRequest - 1; offset >= 0; offset-- {
				if evict {
					victim, _ := e.Victim()
					e.Remove(victim, policy.Evicted)
				}
				id++
				it.ID, it.Key, it.Offset = id, uint64(id), offset
				e.Insert(it, at)
			}
		}
	}
	requests(resident, false)
	requests(3*measured, true) // models have fits now
	least := math.Inf(1)
	for range costRounds {
		start := l.Now()
		requests(measured, true)
		least = min(least, float64(l.Now().Sub(start).Nanoseconds())/float64(max(1, measured)))
	}
	return least, nil
}

func (s *wild) costSection() report.Section {
	one := report.Section{Title: "The cost of an eviction"}
	one.Say(fmt.Sprintf("%d million blocks of %d categories are resident. One eviction is the choice of the victim, its removal, and the insertion of the next block. It is the fastest of %d rounds of %d thousand evictions "+
		"in one goroutine on this machine: the only figures of this page that are not the same in every run.", costBlocks/1_000_000, costKinds*policy.MostTurns, costRounds, costMeasured/1000))
	b := &report.Bars{Title: "Time of one eviction", Y: "µs", Digits: 3, Series: []report.Series{{Name: "µs"}}}
	for _, c := range s.costs {
		b.Groups = append(b.Groups, label(c.policy))
		b.Series[0].Values = append(b.Series[0].Values, report.Value{Y: c.nanos / 1000})
	}
	one.Compare(b)
	return one
}
