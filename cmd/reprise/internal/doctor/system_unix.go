//go:build unix

package doctor

import "syscall"

// descriptors is how many a process may have open. Go has raised the limit of this process as far as it may, as it does for the proxy.
func descriptors() uint64 {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return 0
	}
	return uint64(l.Cur)
}
