package torture

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
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
	name    string // F1 to F48
	what    string
	missing string // why it cannot be made here; "": it can
	apart   bool   // the proxy is a process of its own
	run     func(t *testing.T, seed uint64, r *report) *world
}

// TestMatrix injects each fault under load with several seeds, removes it under load, and checks the invariants.
func TestMatrix(t *testing.T) {
	table := new(table)
	t.Cleanup(func() { t.Log(table) }) // after the subtests that run in parallel
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			if f.missing != "" {
				table.add(f, 0, 0, nil, newReport(), "cannot be made: "+f.missing)
				t.Skip(f.what, ": ", f.missing)
			}
			if f.apart {
				t.Parallel()
			}
			for seed := range uint64(pick(10, 3)) {
				t.Run(fmt.Sprint("seed=", seed+1), func(t *testing.T) { f.test(t, seed+1, table) })
			}
		})
	}
}

func (f *fault) test(t *testing.T, seed uint64, table *table) {
	verdict := "PASS"
	began := time.Now()
	r := newReport()
	var w *world
	defer func() {
		h := newHistory()
		if w != nil {
			h = w.h
		}
		switch {
		case t.Skipped():
			verdict = "SKIP"
		case t.Failed():
			verdict = "FAIL"
			t.Logf("to repeat: go test ./proxy/torture -count=1 -run 'Matrix/%s/seed=%d'", f.name, seed)
		}
		table.add(*f, seed, time.Since(began), h, r, verdict)
	}()
	before := held()
	w = f.run(t, seed, r)
	w.settle()
	w.end()
	w.finish()
	if !f.apart {
		checkHeld(r, before)
	}
	r.add(checkHistory(w.h, w.u))
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

// table is what the matrix prints.
type table struct {
	mu   sync.Mutex // guards rows
	rows []tableRow
}

type tableRow struct {
	fault
	seeds    []string
	took     time.Duration
	asks     int
	results  map[string]int
	checked  map[string]int
	verdicts []string
}

func (t *table) add(f fault, seed uint64, took time.Duration, h *history, r *report, verdict string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.rows, func(row tableRow) bool { return row.name == f.name })
	if i < 0 {
		i = len(t.rows)
		t.rows = append(t.rows, tableRow{fault: f, results: map[string]int{}, checked: map[string]int{}})
	}
	row := &t.rows[i]
	row.took += took
	if seed > 0 {
		row.seeds = append(row.seeds, fmt.Sprint(seed))
	}
	if !slices.Contains(row.verdicts, verdict) {
		row.verdicts = append(row.verdicts, verdict)
	}
	for name, n := range r.checked {
		row.checked[name] += n
	}
	if h == nil {
		return
	}
	row.asks += len(h.asks)
	for _, a := range h.asks {
		switch {
		case a.aborted && a.err != nil:
			row.results["left"]++
		case a.err != nil:
			row.results["cut"]++
		default:
			row.results[a.cache]++
		}
	}
}

// String is the table: one line per fault, with its seeds, requests, results, the invariants that were checked, and the verdict.
func (t *table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%-4s %-44s %-6s %6s %-8s results; invariants checked\n", "", "fault", "seeds", "asked", "verdict")
	t.mu.Lock()
	defer t.mu.Unlock()
	slices.SortStableFunc(t.rows, func(a, b tableRow) int { return number(a.name) - number(b.name) })
	for _, row := range t.rows {
		if row.missing != "" {
			fmt.Fprintf(&b, "%-4s %-44s %s\n", row.name, row.what, row.verdicts[0])
			continue
		}
		var checked []string
		for _, name := range invariants {
			if n := row.checked[name]; n > 0 {
				checked = append(checked, fmt.Sprint(name, ":", n))
			}
		}
		fmt.Fprintf(&b, "%-4s %-44s %-6s %6d %-8s %s; %s; %.1fs\n", row.name, row.what, strings.Join(row.seeds, ","), row.asks, strings.Join(row.verdicts, ","),
			inOrder(row.results), strings.Join(checked, " "), row.took.Seconds())
	}
	b.WriteString(notes)
	return b.String()
}

// notes says what of a fault cannot be made here.
const notes = `
(1) A peer that acknowledges nothing needs a network of its own; here the kernel of a peer that says nothing acknowledges.
(2) Only with REPRISE_TORTURE_OLD=PROGRAM, which names a program of an earlier version.
(3) At random points, which include those within a write. A power cut, after which written blocks can be missing, needs a disk of its own.
(4) A panic of the index cannot be made from outside: the topics take no index. Package topics tests it.
I13 (replicas converge) is not checked: there is one replica.
`

func number(name string) (n int) {
	fmt.Sscanf(name, "F%d", &n)
	return n
}

func inOrder(results map[string]int) string {
	var parts []string
	for _, name := range []string{"exact", "semantic", "shared", "stale", "miss", "bypass", "error", "cut", "left"} {
		if n := results[name]; n > 0 {
			parts = append(parts, fmt.Sprint(name, " ", n))
		}
	}
	return strings.Join(parts, ", ")
}
