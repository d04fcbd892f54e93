package topics

import "slices"

const noSlot = -1

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
	f.slotOf[row] = f.list.add(f.rows, row)
}

// Remove implements index.
func (f *flat) Remove(row int32) {
	if !f.has(row) {
		return
	}
	slot := f.slotOf[row]
	f.slotOf[f.list.remove(slot)] = slot
	f.slotOf[row] = noSlot
}

// has reports whether a row is in the index.
func (f *flat) has(row int32) bool { return int(row) < len(f.slotOf) && f.slotOf[row] != noSlot }

// Len implements index.
func (f *flat) Len() int { return len(f.members) }

// Search implements index.
func (f *flat) Search(q *query, k int, gate float32, dst []neighbor) []neighbor {
	found := nearest{of: f, gate: gate, best: best[neighbor]{k: k, items: dst[:0]}}
	if k >= 1 && len(q.vector) == f.rows.dim {
		newScan(f.rows, q, forAnchor, gate, &found).list(&f.list)
	}
	return found.items
}

// nearest is the visitor that keeps the best rows of a set.
type nearest struct {
	best[neighbor]
	of   *flat
	gate float32
}

// visit takes a row, unless it left during a pause, or was found before.
func (n *nearest) visit(row int32, score float32) (min float32) {
	if n.of.has(row) && !slices.ContainsFunc(n.items, func(x neighbor) bool { return x.row == row }) {
		n.offer(neighbor{n.of.names.nameOf(row), row, score})
	}
	return n.min()
}

// min is the score that the next row must reach.
func (n *nearest) min() float32 {
	if last, full := n.worst(); full {
		return last.score
	}
	return n.gate
}
