//go:build !linux

package config

// physical is the memory of the machine in bytes, 0 where it is not known.
func physical() int64 { return 0 }
