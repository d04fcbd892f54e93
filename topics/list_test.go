package topics

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"
)

// slots is the owner of a list in a test.
type slots map[int32]int32

func (s slots) place(row, slot int32) { s[row] = slot }

// TestListAgainstModel adds and removes rows at random, first without cells, then with them, so that cells are split and dissolved, with
// vectors that are alike in every degree: each row has one slot, beside it its head, and a scan of all cells finds what it must.
func TestListAgainstModel(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	centre := unitVectors(rng, 8, 48)
	for name, draw := range map[string]func() []float32{
		"any":     func() []float32 { return unitVectors(rng, 1, 48)[0] },
		"crowded": func() []float32 { return near(rng, centre[rng.Intn(8)], 0.95) },
		"equal":   func() []float32 { return centre[0] },
		"outliers": func() []float32 {
			if rng.Intn(40) > 0 {
				return centre[0]
			}
			return unitVectors(rng, 1, 48)[0]
		},
	} {
		t.Run(name, func(t *testing.T) {
			rs, l, at := newRows(48), new(list), slots{}
			most := 0
			for step := range 12_000 {
				if step == 2000 {
					l.cells = newCells() // as if it were long
				}
				if grow := step/3000%2 == 0; rng.Intn(10) < 8 == grow || len(at) == 0 {
					v := draw()
					s := sketchOf(v)
					l.add(rs, rs.add(v, &s), at)
				} else {
					row := anyOf(rng, at)
					l.remove(at[row], at)
					delete(at, row)
					rs.remove(row)
				}
				if l.cells != nil {
					most = max(most, len(l.cells.cells))
				}
				if step%500 == 499 {
					checkList(t, rs, l, at, draw())
				}
			}
			if n := len(l.cells.cells); most < 8 || n > l.size()/fewRows+1 || len(l.members) > 0 {
				t.Errorf("%d cells at most, %d at last for %d rows, of which %d have none", most, n, l.size(), len(l.members))
			}
		})
	}
}

// anyOf is a row, the same in each run.
func anyOf(rng *rand.Rand, at slots) (row int32) {
	for {
		if row = int32(rng.Intn(10_000)); at.has(row) {
			return row
		}
	}
}

func (s slots) has(row int32) bool { _, ok := s[row]; return ok }

func checkList(t *testing.T, rs *rows, l *list, at slots, v []float32) {
	t.Helper()
	if l.size() != len(at) {
		t.Fatalf("%d rows, want %d", l.size(), len(at))
	}
	seen := 0
	for i, row := range l.members {
		if seen++; at[row] != int32(i) || l.heads != nil && *l.heads.ref(int32(i)) != *rs.sketch(row).first() {
			t.Fatalf("row %d is in slot %d, not %d, or without its head", row, i, at[row])
		}
	}
	for slot := len(l.members); l.heads != nil && slot < len(l.heads.parts[0]); slot++ {
		if l.heads.parts[0][slot] != (firstPart{}) {
			t.Fatal("a head is not wiped")
		}
	}
	if l.cells != nil {
		seen += checkCells(t, rs, l.cells, at)
	}
	for range l.all {
		seen--
	}
	if seen != 0 {
		t.Fatalf("all is not all: %d", seen)
	}
	q, want := newQuery(v), []candidate(nil)
	for row := range at {
		want = append(want, candidateOf(row, differ(rs.sketch(row).first(), &q.first)))
	}
	newScan(rs, q, effort{heads: 1 << 20, reads: 1 << 20, products: 1}, anyScore, visit(func(int32) float32 { return anyScore })).list(l)
	slices.Sort(want)
	if slices.Sort(q.near); !slices.Equal(q.near, want) {
		t.Fatalf("a scan finds %d rows, want %d", len(q.near), len(want))
	}
}

func checkCells(t *testing.T, rs *rows, l *cells, at slots) (seen int) {
	t.Helper()
	for n, c := range l.cells {
		for i, row := range c.rows {
			if seen++; at[row] != ^int32(n<<cellShift+i) || c.heads[i] != *rs.sketch(row).first() {
				t.Fatalf("row %d is in place %d of cell %d, not in slot %d, or without its head", row, i, n, at[row])
			}
		}
		if len(c.rows) >= cellRows {
			t.Fatalf("cell %d has %d rows", n, len(c.rows))
		}
		for _, h := range c.heads[len(c.rows):cap(c.heads)] {
			if h != (firstPart{}) {
				t.Fatal("a head is not wiped")
			}
		}
	}
	if seen != l.size || len(l.pivot) != len(l.cells) {
		t.Fatalf("%d rows in the cells, want %d; %d pivots of %d cells", seen, l.size, len(l.pivot), len(l.cells))
	}
	return seen
}

// TestMiddle compares the counting by planes with one by bits.
func TestMiddle(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for n := 1; n <= cellRows; n++ {
		c := new(cell)
		for range n {
			h := firstPart{rng.Uint64(), rng.Uint64() & rng.Uint64(), rng.Uint64() | rng.Uint64(), ^uint64(0)}
			c.heads = append(c.heads, h)
		}
		var want firstPart
		for b := range firstBits {
			count := 0
			for _, h := range c.heads {
				count += int(h[b/64] >> (b % 64) & 1)
			}
			if count > n/2 {
				want[b/64] |= 1 << (b % 64)
			}
		}
		if got := c.middle(); got != want {
			t.Fatalf("middle of %d heads: %x, want %x", n, got, want)
		}
	}
}

// TestListsBecomeLong: a list gets cells where it becomes long, and all rows go there with those that join.
func TestListsBecomeLong(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	rs, l, at := newRows(2), new(list), slots{}
	for i := range longList + longList/moveRows + 10 {
		l.add(rs, rs.add([]float32{1, 0}, &sketch{rng.Uint64()}), at)
		if n := len(l.members); n > longList+1 || (l.cells != nil) != (i >= longList) {
			t.Fatalf("%d of %d rows are in no cell", n, i)
		}
	}
	if len(l.members) > 0 {
		t.Errorf("%d rows are still in no cell", len(l.members))
	}
}

// TestScanOfLongLists: a scan of a list with more rows in cells than it may read takes the cells nearest to its query, and finds nearly all of what is
// near.
func TestScanOfLongLists(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	rs, l, at := newRows(24), &list{cells: newCells()}, slots{}
	vectors := clusters(rng, 20_000, 24)
	for _, v := range vectors {
		s := sketchOf(v)
		l.add(rs, rs.add(v, &s), at)
	}
	for heads, want := range map[int]int{1000: 60, 5000: 95, len(vectors): 100} {
		t.Run(fmt.Sprint(heads), func(t *testing.T) {
			found, most := 0, 0
			for range 100 {
				row := int32(rng.Intn(len(vectors)))
				q := newQuery(near(rng, vectors[row], 0.95))
				newScan(rs, q, effort{z: 9, heads: heads, reads: 1 << 20, products: 64}, anyScore, visit(func(r int32) float32 {
					if r == row {
						found++
					}
					return anyScore
				})).list(l)
				most = max(most, len(q.near))
			}
			if most > heads+cellRows || most < heads-cellRows {
				t.Errorf("%d rows are read, want %d", most, heads)
			}
			if found < want {
				t.Errorf("%d of 100 found, want %d", found, want)
			}
		})
	}
}
