package container

// Increment counts up to what the counter can hold.
func Increment(n *uint32) {
	if *n++; *n == 0 {
		*n--
	}
}

// Within is v made finite and brought between floor and ceiling; NaN becomes floor.
func Within(floor, v, ceiling float64) float64 {
	if !(v >= floor) {
		return floor
	}
	return min(v, ceiling)
}
