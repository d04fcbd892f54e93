package policy

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// playKeys asks for the keys of a script one by one, "-7" purges one, and leaves what it played them to for a look inside.
func playKeys(t *testing.T, e Evictor, capacity int, script string) {
	t.Helper()
	l := NewLedger(e, Limit{Entries: capacity})
	resident := map[uint64]ID{}
	key := map[ID]uint64{}
	for i, word := range strings.Fields(script) {
		at := Tick{Seq: int64(i + 1)}
		name, purge := strings.CutPrefix(word, "-")
		k, err := strconv.ParseUint(name, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		id, ok := resident[k]
		switch {
		case purge:
			l.Remove(id, Purged)
			delete(resident, k)
		case ok:
			l.Hit(id, at)
		default:
			id = ID(1000 + i)
			resident[k], key[id] = id, k
			for _, v := range l.Insert(Item{ID: id, Key: k}, at, nil) {
				delete(resident, key[v])
			}
		}
	}
	if l.Faults() != 0 {
		t.Errorf("%q: %d faults", script, l.Faults())
	}
}

// keysIn are the keys in a queue, its head first.
func keysIn[T any](s *slab[T], q *queue, key func(cell[T]) uint64) string {
	var keys []string
	for slot := q.head; slot != 0; slot = s.cells[slot].next {
		keys = append(keys, fmt.Sprint(key(s.cells[slot])))
	}
	return strings.Join(keys, " ")
}

func keysOf(g *ghosts) string {
	return keysIn(&g.slab, &g.queue, func(c cell[struct{}]) uint64 { return uint64(c.id) })
}

// stateCase is a script and what is in a policy's queues after it.
type stateCase struct{ says, script, want string }

func checkStates[E Evictor](t *testing.T, capacity int, fresh func() E, state func(E) string, cases []stateCase) {
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
	ghosts func(Evictor) int
}{
	{"2q", func(e Evictor) int { return e.(*TwoQ).out.len() }},
	{"arc", func(e Evictor) int { return e.(*ARC).b1.len() + e.(*ARC).b2.len() }},
	{"s3fifo", func(e Evictor) int { return e.(*S3FIFO).ghosts.len() }},
	{"w-tinylfu", func(Evictor) int { return 0 }},
	{"w-tinylfu:form=exact", func(Evictor) int { return 0 }},
	{"lirs", func(e Evictor) int { return e.(*LIRS).oldest.n }},
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
			"w-tinylfu:form=libcachesim,window=2", "w-tinylfu:form=libcachesim-exact,window=9C",
			"lirs:hir=0,stack=0", "lirs:hir=0.5C,stack=3C", "lirs:hir=9C",
		} {
			for _, o := range []Options{{Capacity: 1}, {Capacity: 4, Bytes: true}, {Capacity: 9}} {
				e, err := New(name, o)
				if err != nil {
					t.Fatal(err)
				}
				playBytes(t, name, e, script)
			}
		}
	}
}

// TestWrongEstimatesOfTheCapacity limits bytes where half or twice as many entries fit as was said: a policy stays within
// four points of its hit ratio with the right estimate, and its ghosts are about as many.
func TestWrongEstimatesOfTheCapacity(t *testing.T) {
	const fits = 400
	for _, p := range queued {
		hits, ghosts := map[int]float64{}, map[int]int{}
		for _, told := range []int{fits, fits / 2, 2 * fits} {
			e, err := New(p.name, Options{Capacity: told, Bytes: true})
			if err != nil {
				t.Fatal(err)
			}
			hits[told] = playBytesLimit(t, e, fits*100)
			ghosts[told] = p.ghosts(e)
		}
		for told, hit := range hits {
			if n, want := ghosts[told], ghosts[fits]; 10*n < 8*want || 10*n > 12*want {
				t.Errorf("%s: %d ghosts when told %d, %d when told %d", p.name, n, told, want, fits)
			}
			if hit < hits[fits]-0.04 {
				t.Errorf("%s: %.3f hit when told %d, %.3f when told %d", p.name, hit, told, hits[fits], fits)
			}
		}
	}
}

// TestPurgesTellNothingOfTheCapacity removes entries that were not evicted: fewer are resident, and as many would fit.
func TestPurgesTellNothingOfTheCapacity(t *testing.T) {
	for name, size := range map[string]func(Evictor) capacity{
		"2q":        func(e Evictor) capacity { return e.(*TwoQ).size },
		"arc":       func(e Evictor) capacity { return e.(*ARC).c },
		"s3fifo":    func(e Evictor) capacity { return e.(*S3FIFO).size },
		"w-tinylfu": func(e Evictor) capacity { return e.(*TinyLFU).size },
		"lirs":      func(e Evictor) capacity { return e.(*LIRS).size },
	} {
		e, err := New(name, Options{Capacity: 20, Bytes: true})
		if err != nil {
			t.Fatal(err)
		}
		for id := ID(1); id <= 10; id++ {
			e.Insert(Item{ID: id}, Tick{Seq: int64(id)})
		}
		victim, _ := e.Victim()
		for id := ID(1); id <= 3; id++ {
			if id != victim {
				e.Remove(id, Purged)
			}
		}
		if got := size(e).n; got != 20 {
			t.Errorf("%s: %d entries fit after purges, want 20", name, got)
		}
		e.Hit(9, Tick{Seq: 11})
		victim, _ = e.Victim()
		e.Remove(victim, Evicted)
		if got := size(e).n; got > 8 {
			t.Errorf("%s: %d entries fit after an eviction, want those that are left", name, got)
		}
	}
}

// TestNothingLeftIsNoCapacity: an eviction that empties the cache tells that an item was large, not that none fits.
func TestNothingLeftIsNoCapacity(t *testing.T) {
	c := capacity{told: 8, n: 4, bytes: true}
	if c.evicted(0) || c.n != 4 || c.of(6) != 3 {
		t.Errorf("%d entries fit, %d of 6", c.n, c.of(6))
	}
}

// playBytesLimit is the share of hits on 60,000 skewed requests for answers of 100 bytes on average.
func playBytesLimit(t *testing.T, e Evictor, limit int64) float64 {
	t.Helper()
	const requests = 60_000
	zipf := rand.NewZipf(rand.New(rand.NewPCG(8, 9)), 1.01, 20, 20_000)
	l := NewLedger(e, Limit{Bytes: limit})
	resident := map[uint64]ID{}
	key := map[ID]uint64{}
	hits := 0
	for i := range requests {
		k, at := zipf.Uint64()+1, Tick{Seq: int64(i + 1)}
		if id, ok := resident[k]; ok {
			hits++
			l.Hit(id, at)
			continue
		}
		id := ID(i + 1)
		resident[k], key[id] = id, k
		for _, v := range l.Insert(Item{ID: id, Key: k, Size: int64(50 + k*37%101)}, at, nil) {
			delete(resident, key[v])
		}
	}
	if l.Faults() != 0 {
		t.Errorf("%d faults", l.Faults())
	}
	return float64(hits) / requests
}
