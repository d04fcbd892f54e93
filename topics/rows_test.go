package topics

import (
	"math/rand"
	"slices"
	"testing"
)

// TestRowsWipes: no removed vector is left in the spare capacity of a chunk.
func TestRowsWipes(t *testing.T) {
	s := newRows(12)
	for _, v := range unitVectors(rand.New(rand.NewSource(1)), 5, 12) {
		s.add(v)
	}
	for s.n > 2 {
		s.remove(0)
	}
	for _, b := range s.bands {
		whole := b.chunks[0][:cap(b.chunks[0])]
		if spare := whole[2*b.width:]; slices.ContainsFunc(spare, func(x float32) bool { return x != 0 }) {
			t.Errorf("spare capacity holds %v", spare)
		}
	}
}

// TestRowsScanIsExact compares the banded scan with all scores, for minima from none to nearly 1.
func TestRowsScanIsExact(t *testing.T) {
	rng := rand.New(rand.NewSource(2))
	s := newRows(48)
	for _, centre := range unitVectors(rng, 20, 48) {
		for i := range 30 {
			s.add(near(rng, centre, 1-float64(i)/30))
		}
	}
	for row := range s.n {
		q := s.query(near(rng, s.vector(row, nil), 0.98))
		min := float32(rng.Float64()*2 - 1)
		if row%2 == 0 { // the bound is tight: the query equals the row
			q = s.query(s.vector(row, nil))
			min, _ = s.score(row, q, anyScore)
		}
		var want, got []int
		for other := range s.n {
			if score, _ := s.score(other, q, anyScore); score >= min {
				want = append(want, other)
			}
		}
		s.scan(q, min, func(row int, _ float32) float32 { got = append(got, row); return min })
		if !slices.Equal(got, want) {
			t.Fatalf("minimum %v: rows %v, want %v", min, got, want)
		}
	}
}
