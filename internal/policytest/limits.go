package policytest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/policy"
)

// Make makes a policy by its name, as registries do.
type Make func(name string, o policy.Options) (policy.Evictor, error)

// named makes a policy for a test.
func (make Make) named(t testing.TB, name string, o policy.Options) policy.Evictor {
	t.Helper()
	e, err := make(name, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// PlayLimits plays random calls through policies of queues, whose parameters may leave no room in one queue or another.
func PlayLimits(t *testing.T, make Make, names ...string) {
	r := rand.New(rand.NewPCG(77, 1))
	for range 150 {
		script := slices.Repeat([]byte{0}, 300+r.IntN(600))
		for i := range script {
			script[i] = byte(r.Uint32())
		}
		for _, name := range names {
			for _, o := range []policy.Options{{Capacity: 1}, {Capacity: 4, Bytes: true}, {Capacity: 9}} {
				PlayBytes(t, name, make.named(t, name, o), script, nil)
			}
		}
	}
}

// CheckEstimates limits bytes where half or twice as many entries fit as estimated: the hit ratio stays within four points of that with the
// right estimate, and there are about as many ghosts.
func CheckEstimates(t *testing.T, make Make, name string, ghosts func(policy.Evictor) int) {
	const fits = 400
	hits, kept := map[int]float64{}, map[int]int{}
	for _, estimate := range []int{fits, fits / 2, 2 * fits} {
		e := make.named(t, name, policy.Options{Capacity: estimate, Bytes: true})
		hits[estimate] = playBytesLimit(t, e, fits*100)
		kept[estimate] = ghosts(e)
	}
	for estimate, hit := range hits {
		if n, want := kept[estimate], kept[fits]; 10*n < 8*want || 10*n > 12*want {
			t.Errorf("%s: %d ghosts with estimate %d, %d with estimate %d", name, n, estimate, want, fits)
		}
		if hit < hits[fits]-0.04 {
			t.Errorf("%s: %.3f hit with estimate %d, %.3f with estimate %d", name, hit, estimate, hits[fits], fits)
		}
	}
}

// CheckPurges removes entries that were not evicted: fewer are resident, and the same number fits. capacity returns how many that is.
func CheckPurges(t *testing.T, make Make, name string, capacity func(policy.Evictor) int) {
	e := make.named(t, name, policy.Options{Capacity: 20, Bytes: true})
	for id := policy.ID(1); id <= 10; id++ {
		e.Insert(policy.Item{ID: id}, policy.Tick{Seq: int64(id)})
	}
	victim, _ := e.Victim()
	for id := policy.ID(1); id <= 3; id++ {
		if id != victim {
			e.Remove(id, policy.Purged)
		}
	}
	if got := capacity(e); got != 20 {
		t.Errorf("%s: %d entries fit after purges, want 20", name, got)
	}
	e.Hit(9, policy.Tick{Seq: 11})
	victim, _ = e.Victim()
	e.Remove(victim, policy.Evicted)
	if got := capacity(e); got > 8 {
		t.Errorf("%s: %d entries fit after an eviction, want those that are left", name, got)
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
