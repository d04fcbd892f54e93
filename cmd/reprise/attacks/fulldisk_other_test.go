//go:build !linux

package attacks_test

// limitFiles needs prlimit(2).
func (p *process) limitFiles(uint64) { p.fillDisk(true) }

// fillDisk needs prlimit(2).
func (p *process) fillDisk(bool) {
	p.t.Skip("the size of another process's files can be limited on Linux alone")
}
