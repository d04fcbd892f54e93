package topics

import "reprise/embed"

// Flat is the exact Index: a scan over all vectors with SIMD. Upsert and Delete cost O(1); Search reads, at 384 dimensions,
// some 10 to 20 ns per vector. Each vector costs some 40 bytes besides its numbers.
type Flat struct {
	rows  rows
	ids   []uint64         // of each row
	rowOf map[uint64]int32 // of each id
}

var _ Index = (*Flat)(nil)

// NewFlat makes an empty index of vectors of dim numbers.
func NewFlat(dim int) *Flat {
	return &Flat{rows: newRows(dim), rowOf: make(map[uint64]int32)}
}

// Upsert implements Index.
func (f *Flat) Upsert(id uint64, v []float32) error {
	if err := embed.Check(v, f.rows.dim); err != nil {
		return err
	}
	f.put(id, v)
	return nil
}

// put is Upsert without the check.
func (f *Flat) put(id uint64, v []float32) {
	if row, ok := f.rowOf[id]; ok {
		f.rows.set(int(row), v)
		return
	}
	f.rowOf[id] = int32(len(f.ids))
	f.ids = append(f.ids, id)
	f.rows.add(v)
}

// Delete implements Index.
func (f *Flat) Delete(id uint64) {
	row, ok := f.rowOf[id]
	if !ok {
		return
	}
	last := len(f.ids) - 1
	f.rows.remove(int(row))
	f.ids[row] = f.ids[last]
	f.rowOf[f.ids[row]] = row
	f.ids = f.ids[:last]
	delete(f.rowOf, id)
}

// Search implements Index.
func (f *Flat) Search(q []float32, k int, dst []Neighbor) []Neighbor {
	found := best[Neighbor]{k: k, compare: compareNeighbors, items: dst[:0]}
	if k < 1 || len(q) != f.rows.dim {
		return found.items
	}
	min := float32(anyScore)
	f.rows.scan(f.rows.query(q), min, func(row int, score float32) float32 {
		found.offer(Neighbor{f.ids[row], score})
		if last, full := found.worst(); full {
			min = last.Score
		}
		return min
	})
	return found.items
}

// vector appends the vector of id to dst; false where there is none.
func (f *Flat) vector(id uint64, dst []float32) ([]float32, bool) {
	row, ok := f.rowOf[id]
	if !ok {
		return dst, false
	}
	return f.rows.vector(int(row), dst), true
}

// Len implements Index.
func (f *Flat) Len() int { return len(f.ids) }
