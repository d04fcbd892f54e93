package topics

import "math"

const noSlot = math.MinInt32

// flat is the index that scans the sketches of its rows. Add and Remove cost O(1), Search some 0.4 ns a row (see form); it loses the
// nearest row with a probability below 2e-4, and more only where rows are crowded (see scan). A row costs 40 bytes.
type flat struct {
	rows  *rows
	names namer
	list
	slotOf []int32 // of each row, or noSlot
}

var _ index = (*flat)(nil)

// namer returns the name of a row in the set.
type namer interface{ nameOf(row int32) uint64 }

// newFlat makes an empty index of rows.
func newFlat(rs *rows, names namer) *flat { return &flat{rows: rs, names: names} }

// Add implements index.
func (f *flat) Add(row int32) {
	if f.has(row) {
		return
	}
	for int(row) >= len(f.slotOf) {
		f.slotOf = append(f.slotOf, noSlot)
	}
	f.list.add(f.rows, row, f)
}

// Remove implements index.
func (f *flat) Remove(row int32) {
	if f.has(row) {
		f.list.remove(f.slotOf[row], f)
		f.slotOf[row] = noSlot
	}
}

func (f *flat) place(row, slot int32) { f.slotOf[row] = slot }

// has reports whether a row is in the index.
func (f *flat) has(row int32) bool { return int(row) < len(f.slotOf) && f.slotOf[row] != noSlot }

// Len implements index.
func (f *flat) Len() int { return f.size() }

// Search implements index.
func (f *flat) Search(q *query, k int, gate float32, dst []neighbor) []neighbor {
	return f.search(q, forAnchor, k, gate, dst)
}

func (f *flat) search(q *query, e effort, k int, gate float32, dst []neighbor) []neighbor {
	found := nearest{names: f.names, gate: gate, best: best[neighbor]{k: k, items: dst[:0]}}
	if k >= 1 && len(q.vector) == f.rows.dim {
		newScan(f.rows, q, e, gate, &found).list(&f.list)
	}
	return found.items
}

// nearest is the visitor that keeps the best rows of a set.
type nearest struct {
	best[neighbor]
	names namer
	gate  float32
}

// visit takes a row.
func (n *nearest) visit(row int32, score float32) (min float32) {
	n.offer(neighbor{n.names.nameOf(row), row, score})
	return n.min()
}

// min is the score that the next row must reach.
func (n *nearest) min() float32 {
	if last, full := n.worst(); full {
		return last.score
	}
	return n.gate
}
