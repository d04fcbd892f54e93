package rac

import (
	"math/rand/v2"
	"testing"
	"time"

	"reprise/policy"
)

// BenchmarkRACScale prints what a victim and its update cost at 10,000 and at 1,000,000 residents, ten to a topic, and
// their ratio: one operation is a miss (Arrive, Insert with a parent, Victim, Remove) and a hit.
//
//	go test -run '^$' -bench RACScale -benchtime 200x ./policy/rac
func BenchmarkRACScale(b *testing.B) {
	small, large := filledRAC(10_000), filledRAC(1_000_000)
	var spent [2]time.Duration
	for b.Loop() {
		for i, l := range []*racLoad{small, large} {
			start := time.Now()
			for range 1000 {
				l.step()
			}
			spent[i] += time.Since(start)
		}
	}
	n := float64(b.N) * 1000
	b.ReportMetric(float64(spent[0].Nanoseconds())/n, "ns/op@10k")
	b.ReportMetric(float64(spent[1].Nanoseconds())/n, "ns/op@1M")
	b.ReportMetric(float64(spent[1])/float64(spent[0]), "ratio")
	b.ReportMetric(0, "ns/op")
}

type racLoad struct {
	rac  *Policy
	rand *rand.Rand
	size int
	seq  int64
}

func filledRAC(n int) *racLoad {
	l := &racLoad{rac: New(Tuned(n)), rand: rand.New(rand.NewPCG(1, 2)), size: n}
	for range n {
		l.insert()
	}
	for range n {
		l.step()
	}
	return l
}

func (l *racLoad) insert() {
	l.seq++
	it := policy.Item{ID: policy.ID(l.seq), Topic: policy.TopicID(1 + l.rand.IntN(l.size/10)), Parent: l.recent()}
	l.rac.Arrive(it.Topic, policy.Tick{Seq: l.seq})
	l.rac.Insert(it, policy.Tick{Seq: l.seq})
}

func (l *racLoad) step() {
	l.insert()
	id, _ := l.rac.Victim()
	l.rac.Remove(id, policy.Evicted)
	l.rac.Hit(l.recent(), policy.Tick{Seq: l.seq})
}

func (l *racLoad) recent() policy.ID { return policy.ID(max(0, l.seq-1-int64(l.rand.IntN(l.size)))) }
