package torture

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// full is the long form of all tests of this package.
var full = os.Getenv("REPRISE_TORTURE") == "full"

// pick returns the value of the long form or the short one.
func pick(long, short int) int {
	if full {
		return long
	}
	return short
}

// fault is one row of the matrix.
type fault struct {
	name  string // F1 to F47
	what  string
	apart bool // the proxy is a process of its own
	run   func(t *testing.T, seed uint64, r *report) *world
}

// TestMatrix injects each fault under load with several seeds, removes it under load, and checks the invariants.
func TestMatrix(t *testing.T) {
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			if f.apart {
				t.Parallel()
			}
			for seed := range uint64(pick(10, 3)) {
				t.Run(fmt.Sprint("seed=", seed+1), func(t *testing.T) { f.test(t, seed+1) })
			}
		})
	}
}

func (f *fault) test(t *testing.T, seed uint64) {
	r := newReport()
	before := held()
	w := f.run(t, seed, r)
	w.settle()
	w.end()
	w.finish()
	if !f.apart {
		checkHeld(r, before)
	}
	r.add(checkHistory(w.h, w.u))
	t.Logf("%s: %d requests: %v; checked: %v", f.what, len(w.h.asks), w.h.results(), r.checked)
	for i, breach := range r.found {
		if i == 10 {
			t.Errorf("and %d more", len(r.found)-i)
			break
		}
		t.Error(breach)
	}
}

// resources are what a proxy must give back.
type resources struct {
	goroutines, files int
	heap              uint64
}

func held() resources {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	files, _ := os.ReadDir("/proc/self/fd") // empty where there is no such folder
	return resources{runtime.NumGoroutine(), len(files), m.HeapAlloc}
}

// checkHeld waits until the goroutines and files of a run are gone. The heap holds the record of the run, and what sync.Pools keep.
func checkHeld(r *report, before resources) { checkHeldFor(r, before, time.Minute) }

func checkHeldFor(r *report, before resources, limit time.Duration) {
	var now resources
	ok := func() bool {
		now = held()
		return now.goroutines <= before.goroutines+2 && now.files <= before.files+2 && now.heap <= before.heap+64<<20
	}
	for end := time.Now().Add(limit); !ok() && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	r.check("I11", ok(), "held before %+v, and after the drain %+v:\n%s", before, now, stacks())
}

func stacks() string {
	b := make([]byte, 64<<10)
	return string(b[:runtime.Stack(b, true)])
}

// results counts the answers by X-Cache, and those that were cut or whose clients left.
func (h *history) results() map[string]int {
	by := map[string]int{}
	for _, a := range h.asks {
		switch {
		case a.aborted && a.err != nil:
			by["left"]++
		case a.err != nil:
			by["cut"]++
		default:
			by[a.cache]++
		}
	}
	return by
}
