package workload

import (
	"container/list"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/policy/sim"
)

// TestDistances compares with the definition: the distinct items between a request and the one before for the same item.
func TestDistances(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		ids := make([]uint64, r.IntN(60))
		for i := range ids {
			ids[i] = uint64(r.IntN(12)) // 0 is an item here too
		}
		got := distances(ids)
		for i := range ids {
			if want := plainDistance(ids[:i+1]); got[i] != want {
				t.Fatalf("%v: distance %d of request %d, want %d", ids, got[i], i, want)
			}
		}
	}
}

func plainDistance(ids []uint64) int {
	last := len(ids) - 1
	between := map[uint64]bool{}
	for i := last - 1; i >= 0; i-- {
		if ids[i] == ids[last] {
			return len(between)
		}
		between[ids[i]] = true
	}
	return -1
}

// TestLongRatioIsTheRestOfLRU plays LRU by its definition: of the hits that an infinite cache has, it has 1 - LongRatio.
func TestLongRatioIsTheRestOfLRU(t *testing.T) {
	for _, r := range Study() {
		all := trace(t, r.Specs()[0], 7)
		m := Measure(all, r.Capacity)
		hits := lruHits(all, r.Capacity)
		if m.Unique+m.Reuses != len(all) || hits != m.Reuses-m.Long {
			t.Errorf("%s: LRU hits %d, %+v of %d requests", r.Name, hits, m, len(all))
		}
		if normalized := float64(hits) / float64(m.Reuses); math.Abs(normalized-1+LongRatio(all, r.Capacity)) > 1e-12 {
			t.Errorf("%s: normalized hit ratio %v, long ratio %v", r.Name, normalized, LongRatio(all, r.Capacity))
		}
	}
}

func lruHits(all []sim.Request, capacity int) (hits int) {
	queue, places := list.New(), map[uint64]*list.Element{}
	for _, r := range all {
		if e, ok := places[r.ID]; ok {
			hits++
			queue.MoveToFront(e)
			continue
		}
		places[r.ID] = queue.PushFront(r.ID)
		if queue.Len() > capacity {
			delete(places, queue.Remove(queue.Back()).(uint64))
		}
	}
	return hits
}

func TestLongRatioOfNothing(t *testing.T) {
	if got := LongRatio(nil, 1); got != 0 {
		t.Errorf("no request: %v", got)
	}
	all := slices.Repeat([]sim.Request{{ID: 1}, {ID: 2}}, 2)
	if got := []float64{LongRatio(all, 1), LongRatio(all, 2)}; !slices.Equal(got, []float64{1, 0}) {
		t.Errorf("abab at 1 and 2: %v", got)
	}
}
