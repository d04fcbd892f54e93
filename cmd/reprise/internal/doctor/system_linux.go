package doctor

import "syscall"

// freeBytes is what a user without privileges may still write to the file system of dir.
func freeBytes(dir string) (uint64, error) {
	var s syscall.Statfs_t
	err := syscall.Statfs(dir, &s)
	return s.Bavail * uint64(s.Bsize), err
}
