package container

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestRanksHaveTheOrderOfNumbers(t *testing.T) {
	all := []float64{math.Inf(-1), -1e30, -2, -1, 0, 1e-300, 0.5, 1, 1 << 53, 1e300, math.Inf(1)}
	for i, v := range all[1:] {
		if Rank(all[i]) >= Rank(v) {
			t.Errorf("rank of %v is not below that of %v", all[i], v)
		}
	}
}

// TestHeapsAgainstASort plays random calls on two heaps that share the places, of items whose ranks often tie.
func TestHeapsAgainstASort(t *testing.T) {
	const items = 120
	r := rand.New(rand.NewPCG(1, 2))
	s := Heaps{Place: make([]uint32, items), Ties: func(a, b uint32) bool { return a > b }}
	var nodes [2][]Node
	naive := [2]map[uint32]Node{{}, {}}
	for step := range 20_000 {
		i, n := r.IntN(2), Node{Major: r.Uint64N(5), Minor: r.Uint32N(3), Item: r.Uint32N(items)}
		_, in := naive[i][n.Item]
		_, elsewhere := naive[1-i][n.Item]
		switch {
		case elsewhere:
			continue
		case !in:
			s.Push(&nodes[i], n)
		case step%3 == 0 || step > 15_000:
			s.Remove(&nodes[i], n.Item)
			delete(naive[i], n.Item)
			continue
		default:
			s.Move(nodes[i], n)
		}
		naive[i][n.Item] = n
		if step%100 != 0 {
			continue
		}
		var want, got []Node
		for _, n := range naive[i] {
			want = append(want, n)
		}
		slices.SortFunc(want, func(a, b Node) int {
			return cmp.Or(cmp.Compare(a.Major, b.Major), cmp.Compare(a.Minor, b.Minor), cmp.Compare(b.Item, a.Item))
		})
		h := Heap{nodes[i], s.Place, s.Ties}
		if step%200 == 0 {
			h.Order()
		}
		h.Least(func(n Node) bool { got = append(got, n); return true })
		if !slices.Equal(got, want) {
			t.Fatalf("step %d: %v, want %v", step, got, want)
		}
	}
}

// TestHeapGivesBackMemory: a heap that was large once does not keep the room of it.
func TestHeapGivesBackMemory(t *testing.T) {
	h := Heap{Place: make([]uint32, 1000)}
	for item := range uint32(1000) {
		h.Push(Node{Major: uint64(item), Item: item})
	}
	for item := range uint32(990) {
		h.Remove(item)
	}
	if n := cap(h.Nodes); n > 64 {
		t.Errorf("room for %d items, of which 10 are left", n)
	}
}
