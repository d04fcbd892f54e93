package file

import (
	"syscall"

	"go.etcd.io/bbolt"
)

// release takes the pages that bbolt has read through its memory map out of the memory of the process: a file that is read or changed
// everywhere would be counted there whole, beside the entries that the store keeps. They stay in the kernel's cache of files,
// and the next read of one costs a minor fault.
func release(db *bbolt.DB) error {
	return db.View(func(tx *bbolt.Tx) error { // while a transaction is open the map does not move, and it holds tx.Size at least
		_, _, errno := syscall.Syscall(syscall.SYS_MADVISE, db.Info().Data, uintptr(tx.Size()), syscall.MADV_DONTNEED)
		if errno != 0 {
			return errno
		}
		return nil
	})
}
