//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package file

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// lockWait is how long Open waits for another process to release the file, as in a restart.
const lockWait = time.Second

// lock takes the lock that bbolt takes as well, on the same open file, which the kernel counts once. It is taken before
// the pages are checked, because another process may be writing them.
func lock(f *os.File, shared bool) error {
	how := syscall.LOCK_EX
	if shared {
		how = syscall.LOCK_SH
	}
	deadline := time.Now().Add(lockWait)
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func isLocked(err error) bool { return errors.Is(err, syscall.EWOULDBLOCK) }

func isReadOnly(err error) bool {
	return errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EROFS)
}
