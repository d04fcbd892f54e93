package policy

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

// BenchmarkRACScale prints what a victim and its update cost at 10,000 and at 1,000,000 residents, ten to a topic, and
// their ratio: one operation is a miss (Arrive, Insert with a parent, Victim, Remove) and a hit.
//
//	go test -run '^$' -bench RACScale -benchtime 200x ./policy
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
	rac  *RAC
	rand *rand.Rand
	size int
	seq  int64
}

func filledRAC(n int) *racLoad {
	l := &racLoad{rac: NewRAC(RACTuned(n)), rand: rand.New(rand.NewPCG(1, 2)), size: n}
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
	it := Item{ID: ID(l.seq), Topic: TopicID(1 + l.rand.IntN(l.size/10)), Parent: l.recent()}
	l.rac.Arrive(it.Topic, Tick{Seq: l.seq})
	l.rac.Insert(it, Tick{Seq: l.seq})
}

func (l *racLoad) step() {
	l.insert()
	id, _ := l.rac.Victim()
	l.rac.Remove(id, Evicted)
	l.rac.Hit(l.recent(), Tick{Seq: l.seq})
}

func (l *racLoad) recent() ID { return ID(max(0, l.seq-1-int64(l.rand.IntN(l.size)))) }

// BenchmarkBytesPerEntry prints the heap that one resident costs at a million, after three million evictions: ghosts and
// sketches included, the Ledger's table (18 to 37 bytes) not.
//
//	go test -run '^$' -bench BytesPerEntry -benchtime 1x ./policy
func BenchmarkBytesPerEntry(b *testing.B) {
	const n = 1_000_000
	for _, name := range Names() {
		for _, topics := range []int{n / 10, n} { // ten to a topic, and each its own
			b.Run(fmt.Sprintf("%s/topics=%d", name, topics), func(b *testing.B) {
				for b.Loop() {
					before := heapInUse()
					e, err := New(name, Options{Capacity: n})
					if err != nil {
						b.Fatal(err)
					}
					if _, ok := e.(Arriver); !ok && topics < n {
						b.Skip("knows no topics")
					}
					fill(e, n, topics)
					b.ReportMetric(float64(heapInUse()-before)/n, "B/entry")
					runtime.KeepAlive(e)
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// fill inserts 4n entries and evicts all but n, so that every room for ghosts is full.
func fill(e Evictor, n, topics int) {
	for i := range 4 * n {
		it := Item{ID: ID(i + 1), Key: uint64(i+1) * 0x9E3779B97F4A7C15, Topic: TopicID(1 + i%topics)}
		e.Insert(it, Tick{Seq: int64(i + 1)})
		if i >= n {
			victim, _ := e.Victim()
			e.Remove(victim, Evicted)
		}
	}
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkRequest prints the cost of a hit and of a miss with its eviction at 10,000 residents, the Ledger's included.
func BenchmarkRequest(b *testing.B) {
	const n = 10_000
	for _, name := range Names() {
		for _, hit := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/hit=%v", name, hit), func(b *testing.B) {
				e, err := New(name, Options{Capacity: n})
				if err != nil {
					b.Fatal(err)
				}
				l := NewLedger(e, Limit{Entries: n})
				seq := int64(0)
				var evicted []ID
				miss := func() {
					seq++
					evicted = l.Insert(Item{ID: ID(seq), Topic: TopicID(1 + seq%1000)}, Tick{Seq: seq}, evicted[:0])
				}
				for range n {
					miss()
				}
				for b.Loop() {
					if hit {
						l.Hit(ID(1+seq%n), Tick{Seq: seq})
						seq++
					} else {
						miss()
					}
				}
			})
		}
	}
}
