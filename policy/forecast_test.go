package policy

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestForecastKeepsTheLeast: against a stable sort; what is offered twice counts once.
func TestForecastKeepsTheLeast(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for most := range 9 {
		f := NewForecast(most)
		var all []foreseen
		for i := range 200 {
			x := foreseen{ID(1 + i), float64(r.IntN(30))}
			all = append(all, x)
			f.Offer(x.id, x.worth)
			if more, next := f.Offer(x.id, x.worth), f.next; more != (len(next) < most || most > 0 && x.worth < next[most-1].worth) {
				t.Fatalf("most %d: more is %v after %v in %v", most, more, x, next)
			}
		}
		slices.SortStableFunc(all, func(a, b foreseen) int { return int(a.worth - b.worth) })
		var want []ID
		for _, x := range all[:most] {
			want = append(want, x.id)
		}
		if got := f.Next(); !slices.Equal(got, want) {
			t.Errorf("most %d: %v, want %v", most, got, want)
		}
	}
}

// TestForecastNamed: what has no name outside takes no place.
func TestForecastNamed(t *testing.T) {
	f := NewForecast(2)
	f.Named(func(id ID) (ID, bool) { return id + 100, id%2 == 0 }, func(f *Forecast) {
		for id := range ID(8) {
			f.Offer(id, 0)
		}
	})
	f.Offer(7, -1)
	if got := f.Next(); !slices.Equal(got, []ID{7, 100}) {
		t.Errorf("%v", got)
	}
}
