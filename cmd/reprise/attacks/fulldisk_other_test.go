//go:build !linux

package attacks_test

// fillDisk needs prlimit(2).
func (p *process) fillDisk(bool) {
	p.t.Skip("the size of another process's files can be limited on Linux alone")
}
