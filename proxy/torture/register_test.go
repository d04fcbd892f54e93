package torture

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"reprise/proxy"
)

// The cache as a register per key: absent, or a value. A put is an answer that was stored, a get one that was served or found
// missing, a purge sets all keys to absent. An entry may leave at any time, by the capacity, so a get may always miss.
const (
	opPut = iota
	opGet
	opMiss
	opPurge
)

// op is one operation on a register. It takes effect once between from and to.
type op struct {
	kind     int
	value    int64 // of a put and of a get
	from, to int64
}

func (o op) String() string {
	return fmt.Sprintf("%s %d [%d, %d]", [...]string{"put", "get", "miss", "purge"}[o.kind], o.value, o.from, o.to)
}

// linearizable reports whether the operations have an order in which each takes effect between its from and its to and every get
// returns the last value put, if it was not purged since. It searches depth first and remembers the states that it has left: which
// operations are done, and the value.
func linearizable(ops []op) bool {
	slices.SortFunc(ops, func(a, b op) int { return int(a.from - b.from) })
	done := make([]bool, len(ops))
	seen := map[string]bool{}
	const absent = -1
	var try func(first int, value int64) bool
	try = func(first int, value int64) bool {
		for first < len(ops) && done[first] {
			first++
		}
		if first == len(ops) {
			return true
		}
		state := fmt.Sprint(first, " ", value)
		least := ops[first].to // an operation that begins after the end of one that is not done must wait
		for i := first; i < len(ops) && ops[i].from <= least; i++ {
			if done[i] {
				state += fmt.Sprint(" ", i)
			} else {
				least = min(least, ops[i].to)
			}
		}
		if seen[state] {
			return false
		}
		seen[state] = true
		for i := first; i < len(ops) && ops[i].from <= least; i++ {
			if done[i] || ops[i].kind == opGet && ops[i].value != value {
				continue
			}
			next := value
			switch ops[i].kind {
			case opPut:
				next = ops[i].value
			case opPurge, opMiss: // a miss shows that the entry has left
				next = absent
			}
			done[i] = true
			if try(first, next) {
				return true
			}
			done[i] = false
		}
		return false
	}
	return try(0, absent)
}

// registers turns a history into the operations on each key. Answers that came from a flight in progress are no reads of the store.
func registers(h *history) map[string][]op {
	by := map[string][]op{}
	for _, a := range h.asks {
		c := h.sourceOf(a)
		switch key := a.same(); {
		case c == nil || a.err != nil:
		case a.cache == "exact":
			by[key] = append(by[key], op{opGet, c.n, a.start, a.end})
		case a.cache == "miss" && a.directive == "":
			by[key] = append(by[key], op{opMiss, -1, a.start, c.start})
			fallthrough
		case a.cache == "miss":
			if slices.Contains(a.notes(), "stored") {
				by[key] = append(by[key], op{opPut, c.n, c.start, a.end})
			}
		}
	}
	for key := range by {
		for _, p := range h.purges {
			if p.status == 200 {
				by[key] = append(by[key], op{opPurge, -1, p.start, p.end})
			}
		}
	}
	return by
}

// TestRegister lets clients read, replace and purge a few keys and checks each key's history against the register.
func TestRegister(t *testing.T) {
	for seed := range uint64(pick(5, 1)) {
		w := newWorld(t, seed, setup{entries: 1000, limits: proxy.Limits{}})
		w.h.capacity = 0
		var clients sync.WaitGroup
		for i := range 8 {
			clients.Go(func() {
				rng := rand.New(rand.NewPCG(seed, uint64(i)))
				for range pick(100_000, 2_400) / 8 {
					w.registerOp(rng)
				}
			})
		}
		clients.Wait()
		w.finish()
		w.h.index()
		n := 0
		for key, ops := range registers(w.h) {
			n += len(ops)
			if !linearizable(ops) {
				t.Errorf("seed %d: the history of %s has no order: %v", seed, key, ops)
			}
		}
		t.Logf("seed %d: %d requests, %d purges, %d operations on %d keys", seed, len(w.h.asks), len(w.h.purges), n, len(w.h.byKey))
	}
}

// registerOp is one operation of a client: mostly a read, which puts where it misses; a replacement; rarely a purge.
func (w *world) registerOp(rng *rand.Rand) {
	q := question{tenant: tenants[rng.IntN(2)], model: models[0], prompt: prompts[len(prompts)-1-rng.IntN(8)]}
	switch n := rng.IntN(60); {
	case n == 0:
		w.purge(purge{}, `{"all":true,"dry_run":false}`)
	case n < 8:
		q.directive = "Cache-Control: no-cache"
		fallthrough
	default:
		w.ask(q, 0)
	}
}

// TestRegisterCanFail: the search for an order finds one where there is one, and none where there is none.
func TestRegisterCanFail(t *testing.T) {
	for _, tc := range []struct {
		title string
		ops   []op
		want  bool
	}{
		{"a value is read after its put", []op{{opPut, 1, 1, 2}, {opGet, 1, 3, 4}}, true},
		{"a value is read during its put", []op{{opPut, 1, 1, 5}, {opGet, 1, 2, 3}}, true},
		{"a value is read before its put", []op{{opGet, 1, 1, 2}, {opPut, 1, 3, 4}}, false},
		{"a purged value is read", []op{{opPut, 1, 1, 2}, {opPurge, -1, 3, 4}, {opGet, 1, 5, 6}}, false},
		{"a value is read during a purge", []op{{opPut, 1, 1, 2}, {opPurge, -1, 3, 6}, {opGet, 1, 4, 5}}, true},
		{"and again after a miss within the purge", []op{{opPut, 1, 1, 2}, {opPurge, -1, 3, 10}, {opMiss, -1, 4, 5}, {opGet, 1, 6, 7}}, false},
		{"a replaced value is read", []op{{opPut, 1, 1, 2}, {opPut, 2, 3, 4}, {opGet, 1, 5, 6}}, false},
		{"two puts at one time, read in both orders", []op{{opPut, 1, 1, 9}, {opPut, 2, 1, 9}, {opGet, 1, 2, 3}, {opGet, 2, 4, 5}, {opGet, 1, 6, 7}}, false},
		{"two puts at one time, read in one order", []op{{opPut, 1, 1, 9}, {opPut, 2, 1, 9}, {opGet, 1, 2, 3}, {opGet, 2, 4, 5}}, true},
		{"a put that began before a purge and is read after it", []op{{opPut, 1, 1, 6}, {opPurge, -1, 2, 3}, {opGet, 1, 7, 8}}, true},
	} {
		if got := linearizable(tc.ops); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.title, got, tc.want)
		}
	}
}
