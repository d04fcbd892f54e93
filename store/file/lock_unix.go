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

// inUse reports whether another process may write the file, and keeps no lock of it.
func inUse(f *os.File) bool {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
		return isLocked(err)
	}
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // closing the file does it too
	return false
}

// canReplace: a file can be renamed over one that is open.
const canReplace = true

// syncDir makes the names in a directory durable. A file system that cannot do so on request does it on its own.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}

func isLocked(err error) bool { return errors.Is(err, syscall.EWOULDBLOCK) }

func isReadOnly(err error) bool {
	return errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EROFS)
}
