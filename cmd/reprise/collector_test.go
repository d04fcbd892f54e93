package main

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestPacePercent(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		limit int64
		live  uint64
		want  int
	}{
		{0, 0, 1600}, {0, 4 * mib, 1600}, {0, 16 * mib, 400}, {0, 64 * mib, 100}, {0, 160 * mib, 40}, {0, 1024 * mib, 40},
		{64 * mib, 4 * mib, 200}, {64 * mib, 40 * mib, 40}, {4096 * mib, 16 * mib, 400},
	} {
		if got := newPacer(c.limit).percent(c.live); got != c.want {
			t.Errorf("limit %d MiB, %d MiB in use: %d %%, want %d", c.limit/mib, c.live/mib, got, c.want)
		}
	}
}

// TestPaceFollowsTheHeap: each run of the collector sets the percentage for the next one.
func TestPaceFollowsTheHeap(t *testing.T) {
	t.Setenv("GOGC", "")
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	p := newPacer(0)
	p.again()
	small := p.percent(0)
	held := make([]byte, 200<<20)
	defer runtime.KeepAlive(held)
	for range 10_000 {
		runtime.GC()
		runtime.Gosched()
		if now := debug.SetGCPercent(small); now == pacePercent {
			return
		}
	}
	t.Errorf("the percentage is never %d, with %d MiB in use", pacePercent, len(held)>>20)
}
