package config

import "syscall"

// physical is the memory of the machine in bytes, 0 where it is not known. /proc/meminfo has it too, but not in every sandbox.
func physical() int64 {
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) != nil {
		return 0
	}
	return int64(uint64(info.Totalram) * uint64(info.Unit))
}
