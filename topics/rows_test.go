package topics

import (
	"math/rand"
	"slices"
	"testing"
)

// TestRowsAgainstModel adds and removes rows at random: every row keeps its vector and sketch until it is removed, then both are
// wiped.
func TestRowsAgainstModel(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	rs := newRows(12)
	want, dropped := map[int32][]float32{}, 0
	for step := range 20_000 {
		grow := step/4000%2 == 0 // the rows become many, then few, so that chunks are dropped and made again
		if v := unitVectors(rng, 1, 12)[0]; rng.Intn(10) < 7 == grow || len(want) == 0 {
			s := sketchOf(v)
			row := rs.add(v, &s)
			if want[row] != nil {
				t.Fatalf("row %d is given twice", row)
			}
			want[row] = v
		} else {
			for row := range want {
				remove(t, rs, row)
				delete(want, row)
				if rs.vectors.parts[row/chunkRows] == nil {
					dropped++
				}
				break
			}
		}
	}
	if dropped == 0 || len(want) == 0 {
		t.Errorf("%d chunks were dropped, %d rows left: want some of both", dropped, len(want))
	}
	for row, v := range want {
		s := sketchOf(v)
		if !slices.Equal(rs.vector(row), v) || *rs.sketch(row) != s {
			t.Errorf("row %d has changed", row)
		}
	}
}

func remove(t *testing.T, rs *rows, row int32) {
	t.Helper()
	v, s := rs.vector(row), rs.sketch(row)
	rs.remove(row)
	for _, x := range v {
		if x != 0 || *s != (sketch{}) {
			t.Fatalf("row %d is not wiped", row)
		}
	}
}
