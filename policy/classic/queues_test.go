package classic

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"reprise/internal/container"
	"reprise/internal/policytest"
	"reprise/policy"
)

// playKeys asks for the keys of a script one by one, "-7" purges one, and leaves what it played them to for a look inside.
func playKeys(t *testing.T, e policy.Evictor, capacity int, script string) {
	t.Helper()
	l := policy.NewLedger(e, policy.Limit{Entries: capacity})
	resident := map[uint64]policy.ID{}
	key := map[policy.ID]uint64{}
	for i, word := range strings.Fields(script) {
		at := policy.Tick{Seq: int64(i + 1)}
		name, purge := strings.CutPrefix(word, "-")
		k, err := strconv.ParseUint(name, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		id, ok := resident[k]
		switch {
		case purge:
			l.Remove(id, policy.Purged)
			delete(resident, k)
		case ok:
			l.Hit(id, at)
		default:
			id = policy.ID(1000 + i)
			resident[k], key[id] = id, k
			for _, v := range l.Insert(policy.Item{ID: id, Key: k}, at, nil) {
				delete(resident, key[v])
			}
		}
	}
	if l.Faults() != 0 {
		t.Errorf("%q: %d faults", script, l.Faults())
	}
}

// keysIn are the keys in a queue, its head first.
func keysIn[T any](s *container.Slots[policy.ID, T], q *container.Queue, key func(container.Cell[policy.ID, T]) uint64) string {
	var keys []string
	for slot := q.Head; slot != 0; slot = s.Cells[slot].Next {
		keys = append(keys, fmt.Sprint(key(s.Cells[slot])))
	}
	return strings.Join(keys, " ")
}

func keysOf(g *container.Ghosts) string {
	var keys []string
	for key := range g.All() {
		keys = append(keys, fmt.Sprint(key))
	}
	return strings.Join(keys, " ")
}

// stateCase is a script and what is in a policy's queues after it.
type stateCase struct{ says, script, want string }

func checkStates[E policy.Evictor](t *testing.T, capacity int, fresh func() E, state func(E) string, cases []stateCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.says, func(t *testing.T) {
			e := fresh()
			playKeys(t, e, capacity, c.script)
			if got := state(e); got != c.want {
				t.Errorf("%s:\n got %s\nwant %s", c.script, got, c.want)
			}
		})
	}
}

// queued are the policies of queues and ghosts, and how much each of them remembers.
var queued = []struct {
	name   string
	ghosts func(policy.Evictor) int
}{
	{"2q", func(e policy.Evictor) int { return e.(*TwoQ).out.Len() }},
	{"arc", func(e policy.Evictor) int { return e.(*ARC).b1.Len() + e.(*ARC).b2.Len() }},
	{"s3fifo", func(e policy.Evictor) int { return e.(*S3FIFO).ghosts.Len() }},
	{"w-tinylfu", func(policy.Evictor) int { return 0 }},
	{"w-tinylfu:form=exact", func(policy.Evictor) int { return 0 }},
	{"lirs", func(e policy.Evictor) int { return e.(*LIRS).oldest.Len }},
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
			"2q:in=0,out=0", "2q:in=9C", "arc", "s3fifo:small=0,ghost=0,threshold=1", "s3fifo:small=9C",
			"w-tinylfu:window=0", "w-tinylfu:window=5C", "w-tinylfu:form=exact,age=20",
			"w-tinylfu-libcachesim:window=2", "w-tinylfu-libcachesim:counts=exact,window=9C",
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
	for name, size := range map[string]func(policy.Evictor) capacity{
		"2q":        func(e policy.Evictor) capacity { return e.(*TwoQ).size },
		"arc":       func(e policy.Evictor) capacity { return e.(*ARC).c },
		"s3fifo":    func(e policy.Evictor) capacity { return e.(*S3FIFO).size },
		"w-tinylfu": func(e policy.Evictor) capacity { return e.(*TinyLFU).size },
		"lirs":      func(e policy.Evictor) capacity { return e.(*LIRS).size },
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
		if got := size(e).n; got != 20 {
			t.Errorf("%s: %d entries fit after purges, want 20", name, got)
		}
		e.Hit(9, policy.Tick{Seq: 11})
		victim, _ = e.Victim()
		e.Remove(victim, policy.Evicted)
		if got := size(e).n; got > 8 {
			t.Errorf("%s: %d entries fit after an eviction, want those that are left", name, got)
		}
	}
}

// TestNothingLeftIsNoCapacity: an eviction that empties the cache means that an item was large, not that none fits.
func TestNothingLeftIsNoCapacity(t *testing.T) {
	c := capacity{given: 8, n: 4, bytes: true}
	if c.evicted(0) || c.n != 4 || c.of(6) != 3 {
		t.Errorf("%d entries fit, %d of 6", c.n, c.of(6))
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
