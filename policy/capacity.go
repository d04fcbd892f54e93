package policy

// Capacity is how many entries fit, N, and scales sizes that were given for another number. With a limit in entries it is
// Options.Capacity; with one in bytes that is an estimate, replaced by the number that remains after each eviction.
type Capacity struct {
	Given, N int
	Bytes    bool // N is an estimate
}

// CapacityOf returns the capacity of a new
func CapacityOf(a Args) Capacity { return Capacity{Given: a.Capacity, N: a.Capacity, Bytes: a.Bytes} }

// Evicted records that n entries remain after an eviction, and reports whether the capacity changed.
func (c *Capacity) Evicted(n int) bool {
	if !c.Bytes || n == c.N || n == 0 {
		return false
	}
	c.N = n
	return true
}

// Of scales a size that was given for the capacity Given.
func (c *Capacity) Of(size int) int {
	if c.N == c.Given {
		return size
	}
	return int(float64(size) * float64(c.N) / float64(c.Given))
}
