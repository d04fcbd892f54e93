package memory

import "runtime/debug"

// startPercent is how much garbage the collector allows during a start, in percent of what is in use: reading a file makes as much
// again as is kept, and at Go's own 100 % the highest memory of a start is twice that of the process later.
const startPercent = 15

// Spare keeps the memory of a start low until done is called; GOGC below startPercent stays. It costs some 0.5 s of a core for each GiB
// that is kept. done gives what is free by then back to the system, in the background.
func Spare() (done func()) {
	before := debug.SetGCPercent(startPercent)
	if before >= 0 && before < startPercent {
		debug.SetGCPercent(before)
	}
	return func() {
		debug.SetGCPercent(before)
		go debug.FreeOSMemory()
	}
}
