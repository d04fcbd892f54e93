package workload

import (
	"container/list"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/cmd/reprise-lab/sim"
)

// measured counts the reuses of a trace.
func measured(all []sim.Request, capacity int) reuse {
	ids := make([]uint64, len(all))
	for i := range all {
		ids[i] = all[i].ID
	}
	return measure(ids, capacity)
}

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

// TestRatioAgainstLRU plays LRU by its definition: of the hits of an infinite cache it has a share of 1 - ratio.
func TestRatioAgainstLRU(t *testing.T) {
	for _, r := range Study() {
		all := trace(t, r.Specs()[0], 7)
		m := measured(all, r.Capacity)
		hits := lruHits(all, r.Capacity)
		if m.unique+m.reuses != len(all) || hits != m.reuses-m.long {
			t.Errorf("%s: LRU hits %d, %+v of %d requests", r.Name, hits, m, len(all))
		}
		if normalized := float64(hits) / float64(m.reuses); math.Abs(normalized-1+m.ratio()) > 1e-12 {
			t.Errorf("%s: normalized hit ratio %v, long ratio %v", r.Name, normalized, m.ratio())
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
	if got := measured(nil, 1).ratio(); got != 0 {
		t.Errorf("no request: %v", got)
	}
	all := slices.Repeat([]sim.Request{{ID: 1}, {ID: 2}}, 2)
	if got := []float64{measured(all, 1).ratio(), measured(all, 2).ratio()}; !slices.Equal(got, []float64{1, 0}) {
		t.Errorf("abab at 1 and 2: %v", got)
	}
}
