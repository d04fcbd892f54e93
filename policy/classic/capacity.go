package classic

import "reprise/policy/spec"

// capacity is how many entries fit, and scales sizes that were given for another number. With a limit in entries it is
// Options.Capacity; with one in bytes that is an estimate, replaced by the number that remains after each eviction.
type capacity struct {
	given, n int
	bytes    bool
}

func capacityOf(a spec.Args) capacity {
	return capacity{given: a.Capacity, n: a.Capacity, bytes: a.Bytes}
}

// evicted records that n entries remain after an eviction, and reports whether the capacity changed.
func (c *capacity) evicted(n int) bool {
	if !c.bytes || n == c.n || n == 0 {
		return false
	}
	c.n = n
	return true
}

// of scales a size that was given for the capacity given.
func (c *capacity) of(size int) int {
	if c.n == c.given {
		return size
	}
	return int(float64(size) * float64(c.n) / float64(c.given))
}
