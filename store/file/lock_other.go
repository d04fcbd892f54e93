//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package file

import (
	"errors"
	"os"
	"time"
)

const lockWait = time.Second

// lock does nothing: bbolt locks the file on these systems.
func lock(*os.File, bool) error { return nil }

// canReplace: a file cannot be renamed over one that is open, so it is never made shorter. What was purged is overwritten all the same.
const canReplace = false

func syncDir(string) error { return nil }

func isLocked(error) bool { return false }

func isReadOnly(err error) bool { return errors.Is(err, os.ErrPermission) }

// inUse is not known: bbolt locks the file on these systems.
func inUse(*os.File) bool { return false }
