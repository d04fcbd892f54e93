//go:build !windows

package kv

import (
	"math/rand/v2"
	"syscall"
	"testing"

	"reprise/cmd/reprise-lab/policies/pinning"
	"reprise/policy"
)

// evictees are the policies that rank KV blocks.
var evictees = []string{"lru", "gdfs", "aging-lfu", "wa", "wa:form=bayes", "wa+", "lpc", "lpc-wa"}

// BenchmarkEviction prints the cost of one eviction with a million resident blocks of 40 categories: the choice of the victim, its removal,
// and the insertion of the next block. Requests are of a hundred blocks, and one of five uses resident ones.
//
//	go test -run '^$' -bench Eviction -benchtime 500000x ./cmd/reprise-lab/policies/kv
func BenchmarkEviction(b *testing.B) { measure(b, 1_200_000, perRequest, (*stream).request) }

// BenchmarkVictim prints the cost of the choice alone, at the same state.
//
//	go test -run '^$' -bench Victim -benchtime 500000x ./cmd/reprise-lab/policies/kv
func BenchmarkVictim(b *testing.B) {
	measure(b, 1_200_000, 1, func(s *stream) { s.evictor.Victim() })
}

// BenchmarkUse prints the cost of a use of a resident block among a million.
//
//	go test -run '^$' -bench Use -benchtime 500000x ./cmd/reprise-lab/policies/kv
func BenchmarkUse(b *testing.B) { measure(b, million, perRequest, (*stream).use) }

// measure prints the cost of an operation, so many of which are one call of each, after so many blocks were inserted.
func measure(b *testing.B, inserted policy.ID, operations int, each func(*stream)) {
	for _, name := range evictees {
		b.Run(name, func(b *testing.B) {
			s := newStream(b, name)
			for s.born < inserted {
				s.request()
			}
			b.ResetTimer()
			start := cpu(b)
			for i := 0; i < b.N; i += operations {
				each(s)
			}
			b.ReportMetric(float64(cpu(b)-start)/float64(b.N), "cpu-ns/op")
		})
	}
}

// cpu is the processor time of this process so far, in nanoseconds: what other processes take does not count.
func cpu(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// stream is requests of new blocks, five a second.
type stream struct {
	evictor  policy.Evictor
	context  pinning.Contextual
	rng      *rand.Rand
	at       policy.Tick
	born     policy.ID
	recent   [1 << 10]policy.ID // the first block of the last requests
	requests int
}

const (
	perRequest = 100
	million    = 1_000_000
)

func newStream(b *testing.B, name string) *stream {
	e := newPolicy(b, name)
	s := &stream{evictor: e, rng: rand.New(rand.NewPCG(1, 2))}
	s.context, _ = e.(pinning.Contextual)
	return s
}

// request inserts the blocks of one request, each after an eviction where a million are resident.
func (s *stream) request() {
	s.tick()
	it := s.item()
	first := s.born + 1
	for i := perRequest - 1; i >= 0; i-- {
		if s.born >= million {
			id, _ := s.evictor.Victim()
			s.evictor.Remove(id, policy.Evicted)
		}
		s.born++
		it.ID, it.Key, it.Offset = s.born, uint64(s.born), i
		s.evictor.Insert(it, s.at)
	}
	s.recent[s.requests%len(s.recent)] = first
	s.requests++
	if s.requests%5 == 0 {
		s.use()
	}
}

// use is a request for the blocks of an earlier one.
func (s *stream) use() {
	s.tick()
	it := s.item()
	first := s.recent[s.rng.IntN(min(s.requests, len(s.recent)))]
	for i := range policy.ID(perRequest) {
		it.ID, it.Key, it.Offset = first+i, uint64(first+i), perRequest-1-int(i)
		if s.context != nil {
			s.context.HitIn(it, s.at)
		} else {
			s.evictor.Hit(it.ID, s.at)
		}
	}
}

func (s *stream) tick() { s.at = policy.Tick{Seq: s.at.Seq + 1, At: s.at.At + 0.2*s.rng.ExpFloat64()} }

func (s *stream) item() policy.Item {
	return policy.Item{Category: policy.CategoryOf(uint16(s.rng.IntN(5)), 1+s.rng.IntN(policy.MostTurns)), Prob: s.rng.Float64(), Topic: policy.TopicID(s.at.Seq)}
}
