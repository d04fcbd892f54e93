package classic

import "reprise/policy/internal/spec"

// capacity is how many entries fit, and what sizes given for one number of them are for another. With a limit in entries
// it is what was told; with one in bytes that is an estimate, which the number that remains after each eviction replaces.
type capacity struct {
	given, n int
	bytes    bool
}

func capacityOf(a spec.Args) capacity {
	return capacity{given: a.Capacity, n: a.Capacity, bytes: a.Bytes}
}

// evicted learns that n entries remain after an eviction and reports whether that changes anything.
func (c *capacity) evicted(n int) bool {
	if !c.bytes || n == c.n || n == 0 {
		return false
	}
	c.n = n
	return true
}

// of is the size now of what was given as size.
func (c *capacity) of(size int) int {
	if c.n == c.given {
		return size
	}
	return int(float64(size) * float64(c.n) / float64(c.given))
}
