package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// startPercent is how much garbage the collector allows during a start, in percent of what is in use: reading a file makes as much
// again as is kept, and at Go's own 100 % the highest memory of a start is twice that of the process later.
const startPercent = 15

// spare keeps the memory of a start low until done is called; GOGC below startPercent stays. It costs some 0.5 s of a core for each GiB
// that is kept. done gives what is free by then back to the system, in the background.
func spare() (done func()) {
	before := debug.SetGCPercent(startPercent)
	if before >= 0 && before < startPercent {
		debug.SetGCPercent(before)
	}
	return func() {
		debug.SetGCPercent(before)
		go debug.FreeOSMemory()
	}
}

// How much garbage the collector allows before it runs. Each run costs time in proportion to what is in use, so a small heap gets
// room for many requests between two of them; a large one is full of entries and is charged to the capacity, and Go's own 100 % would
// make the process twice as large as that.
const (
	pacePercent = 40       // of what is in use,
	paceBytes   = 64 << 20 // or this where it is more,
	paceShare   = 8        // but not more than the memory limit by this
)

// pace sets how often the garbage collector runs, again after each run of it, from how much is in use and from the memory limit in bytes,
// where 0 is none. GOGC, where it is set, stays in force. It lasts as long as the process.
func pace(limit int64) {
	if os.Getenv("GOGC") != "" {
		return
	}
	newPacer(limit).again()
}

type pacer struct {
	room uint64 // for garbage beside a small heap
	last int
}

func newPacer(limit int64) *pacer {
	p := &pacer{room: paceBytes}
	if limit > 0 {
		p.room = min(p.room, uint64(limit)/paceShare)
	}
	return p
}

// again sets the percentage, and lets the next run of the collector call it: an object that nothing holds is cleaned up after each.
func (p *pacer) again() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if percent := p.percent(live[0].Value.Uint64()); percent*10 > p.last*11 || percent*11 < p.last*10 {
		p.last = percent
		debug.SetGCPercent(percent)
	}
	runtime.AddCleanup(&struct{ own *pacer }{p}, (*pacer).again, p)
}

// percent is the garbage to be allowed beside so many bytes in use, in percent of these.
func (p *pacer) percent(live uint64) int {
	const least = 4 << 20 // Go's heap of an idle process; the start reads 0 here
	return int(max(100*p.room/max(live, least), pacePercent))
}
