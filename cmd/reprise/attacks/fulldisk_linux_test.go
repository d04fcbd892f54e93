package attacks_test

import (
	"syscall"
	"unsafe"
)

// fillDisk makes every write of the process to a file fail (EFBIG), as on a full disk, or undoes that.
func (p *process) fillDisk(full bool) {
	p.t.Helper()
	limit := ^uint64(0)
	if full {
		limit = 0
	}
	p.limitFiles(limit)
}

// limitFiles makes every write of the process fail that reaches beyond so many bytes of a file.
func (p *process) limitFiles(bytes uint64) {
	p.t.Helper()
	limit := syscall.Rlimit{Cur: bytes, Max: ^uint64(0)}
	const sizeOfFiles = 1 // RLIMIT_FSIZE
	_, _, errno := syscall.Syscall6(syscall.SYS_PRLIMIT64, uintptr(p.Process.Pid), sizeOfFiles, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	if errno != 0 {
		p.t.Fatal("limit the size of files: ", errno)
	}
}
