//go:build !linux

package file

import "go.etcd.io/bbolt"

// release does nothing: what DONTNEED means differs between systems.
func release(*bbolt.DB) error { return nil }
