package classic

import (
	"math/rand/v2"
	"testing"

	"reprise/internal/policytest"
	"reprise/policy"
)

// queued are the policies of queues and ghosts, and how much each of them remembers.
var queued = []struct {
	name   string
	ghosts func(policy.Evictor) int
}{
	{"s3fifo", func(e policy.Evictor) int { return e.(*s3fifo).ghosts.Len() }},
	{"w-tinylfu", func(policy.Evictor) int { return 0 }},
	{"lirs", func(e policy.Evictor) int { return e.(*lirs).oldest.Len }},
}

// TestQueuePoliciesAtTheirLimits plays random calls with parameters that leave no room in one queue or another.
func TestQueuePoliciesAtTheirLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(77, 1))
	for range 150 {
		script := make([]byte, 300+r.IntN(600))
		for i := range script {
			script[i] = byte(r.Uint32())
		}
		for _, name := range []string{
			"s3fifo:small=0,ghost=0,threshold=1", "s3fifo:small=9C",
			"w-tinylfu:window=0", "w-tinylfu:window=5C", "w-tinylfu:age=20",
			"lirs:hir=0,stack=0", "lirs:hir=0.5C,stack=3C", "lirs:hir=9C",
		} {
			for _, o := range []policy.Options{{Capacity: 1}, {Capacity: 4, Bytes: true}, {Capacity: 9}} {
				e, err := specs.New(name, o)
				if err != nil {
					t.Fatal(err)
				}
				policytest.PlayBytes(t, name, e, script, nil)
			}
		}
	}
}

// TestWrongEstimatesOfTheCapacity limits bytes where half or twice as many entries fit as estimated: the hit ratio stays within
// four points of that with the right estimate, and there are about as many ghosts.
func TestWrongEstimatesOfTheCapacity(t *testing.T) {
	const fits = 400
	for _, p := range queued {
		hits, ghosts := map[int]float64{}, map[int]int{}
		for _, estimate := range []int{fits, fits / 2, 2 * fits} {
			e, err := specs.New(p.name, policy.Options{Capacity: estimate, Bytes: true})
			if err != nil {
				t.Fatal(err)
			}
			hits[estimate] = playBytesLimit(t, e, fits*100)
			ghosts[estimate] = p.ghosts(e)
		}
		for estimate, hit := range hits {
			if n, want := ghosts[estimate], ghosts[fits]; 10*n < 8*want || 10*n > 12*want {
				t.Errorf("%s: %d ghosts with estimate %d, %d with estimate %d", p.name, n, estimate, want, fits)
			}
			if hit < hits[fits]-0.04 {
				t.Errorf("%s: %.3f hit with estimate %d, %.3f with estimate %d", p.name, hit, estimate, hits[fits], fits)
			}
		}
	}
}

// TestPurgesDoNotChangeTheCapacity removes entries that were not evicted: fewer are resident, and the same number fits.
func TestPurgesDoNotChangeTheCapacity(t *testing.T) {
	for name, size := range map[string]func(policy.Evictor) policy.Capacity{
		"s3fifo":    func(e policy.Evictor) policy.Capacity { return e.(*s3fifo).size },
		"w-tinylfu": func(e policy.Evictor) policy.Capacity { return e.(*tinyLFU).size },
		"lirs":      func(e policy.Evictor) policy.Capacity { return e.(*lirs).size },
	} {
		e, err := specs.New(name, policy.Options{Capacity: 20, Bytes: true})
		if err != nil {
			t.Fatal(err)
		}
		for id := policy.ID(1); id <= 10; id++ {
			e.Insert(policy.Item{ID: id}, policy.Tick{Seq: int64(id)})
		}
		victim, _ := e.Victim()
		for id := policy.ID(1); id <= 3; id++ {
			if id != victim {
				e.Remove(id, policy.Purged)
			}
		}
		if got := size(e).N; got != 20 {
			t.Errorf("%s: %d entries fit after purges, want 20", name, got)
		}
		e.Hit(9, policy.Tick{Seq: 11})
		victim, _ = e.Victim()
		e.Remove(victim, policy.Evicted)
		if got := size(e).N; got > 8 {
			t.Errorf("%s: %d entries fit after an eviction, want those that are left", name, got)
		}
	}
}

// playBytesLimit is the share of hits on 60,000 skewed requests for answers of 100 bytes on average.
func playBytesLimit(t *testing.T, e policy.Evictor, limit int64) float64 {
	t.Helper()
	const requests = 60_000
	zipf := rand.NewZipf(rand.New(rand.NewPCG(8, 9)), 1.01, 20, 20_000)
	l := policy.NewLedger(e, policy.Limit{Bytes: limit})
	resident := map[uint64]policy.ID{}
	key := map[policy.ID]uint64{}
	hits := 0
	for i := range requests {
		k, at := zipf.Uint64()+1, policy.Tick{Seq: int64(i + 1)}
		if id, ok := resident[k]; ok {
			hits++
			l.Hit(id, at)
			continue
		}
		id := policy.ID(i + 1)
		resident[k], key[id] = id, k
		for _, v := range l.Insert(policy.Item{ID: id, Key: k, Size: int64(50 + k*37%101)}, at, nil) {
			delete(resident, key[v])
		}
	}
	if l.Faults() != 0 {
		t.Errorf("%d faults", l.Faults())
	}
	return float64(hits) / requests
}
