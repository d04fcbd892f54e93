//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package file

import (
	"errors"
	"os"
	"time"
)

const lockWait = time.Second

// lock leaves it to bbolt, which has a lock for these systems.
func lock(*os.File, bool) error { return nil }

func isLocked(error) bool { return false }

func isReadOnly(err error) bool { return errors.Is(err, os.ErrPermission) }
