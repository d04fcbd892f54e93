package upstream

// Memory is what recordings are charged to. It is safe for concurrent use.
type Memory interface {
	// Reserve charges n bytes more, and reports whether there is room for them. Where there is none nothing is charged.
	Reserve(n int64) bool
	// Release takes back a charge of n bytes.
	Release(n int64)
}
