package topics

// chunks is a list of values by row. Only its first chunk is ever copied to grow: to copy a million rows would take milliseconds, while
// every search waits.
type chunks[T any] struct {
	width int   // values of a row
	shift uint8 // a full chunk has 1<<shift rows
	parts [][]T // nil: dropped
}

// at is one row, which grow has made.
func (c *chunks[T]) at(row int32) []T {
	r := int(row&(1<<c.shift-1)) * c.width
	return c.parts[row>>c.shift][r : r+c.width : r+c.width]
}

// ref is the value of one row, which grow has made, where a row has one.
func (c *chunks[T]) ref(row int32) *T { return &c.parts[row>>c.shift][row&(1<<c.shift-1)] }

// grow makes room for a row at the end or in a chunk that was dropped. The first chunk doubles, the others are full ones at once.
func (c *chunks[T]) grow(row int32) {
	i, need := int(row>>c.shift), int(row&(1<<c.shift-1)+1)*c.width
	if i == len(c.parts) {
		c.parts = append(c.parts, nil)
	}
	part := c.parts[i]
	if len(part) >= need {
		return
	}
	size := c.width << c.shift
	if i == 0 {
		size = min(max(2*len(part), need), size)
	}
	c.parts[i] = append(make([]T, 0, size), part...)[:size]
}

// drop frees the memory of a chunk.
func (c *chunks[T]) drop(chunk int32) { c.parts[chunk] = nil }

// part is the rows of the chunk that begins at row from, up to row to; none of a chunk that was dropped.
func (c *chunks[T]) part(from, to int32) []T {
	part := c.parts[from>>c.shift]
	return part[:min(len(part), int(to-from)*c.width)]
}
