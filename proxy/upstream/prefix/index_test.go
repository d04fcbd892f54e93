package prefix

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// vllm is a block cache as vLLM has it, for requests one after the other: a free queue, from whose front blocks are taken, and to whose
// end those of a request are returned, the last block first.
type vllm struct {
	free     []Block // those that hold something
	capacity int
}

func (v *vllm) match(blocks []Block) (n int) {
	for n < len(blocks) && slices.Contains(v.free, blocks[n]) {
		n++
	}
	return n
}

func (v *vllm) run(blocks []Block) {
	blocks = blocks[:min(len(blocks), v.capacity)]
	for _, b := range blocks[:v.match(blocks)] {
		v.remove(b)
	}
	used := slices.Clone(blocks)
	for _, b := range used {
		v.remove(b)
	}
	slices.Reverse(used)
	v.free = append(v.free, used...)
	v.shrink()
}

func (v *vllm) remove(b Block) {
	if i := slices.Index(v.free, b); i >= 0 {
		v.free = slices.Delete(v.free, i, i+1)
	}
}

func (v *vllm) shrink() { v.free = v.free[max(0, len(v.free)-v.capacity):] }

// chains are those of conversations that share scaffolds, as they grow.
func chains(rng *rand.Rand, scaffolds, conversations int) func() []Block {
	grown := make([][]Block, conversations)
	return func() []Block {
		c := rng.IntN(conversations)
		if len(grown[c]) == 0 || rng.IntN(8) == 0 {
			var chain Chain
			chain.Begin(7)
			chain.Add(System, fmt.Appendf(nil, "%1000d", c%scaffolds))
			grown[c] = slices.Clone(chain.Blocks)
		}
		for range rng.IntN(4) {
			grown[c] = append(grown[c], link(grown[c][len(grown[c])-1], rng.Uint64()))
		}
		return grown[c]
	}
}

// play makes changes to an index and to the naive model, and compares them.
func play(t *testing.T, next func(n int) int, draw func() []Block, steps int) {
	const members = 3
	capacities := []int{40, 100, 7}
	x, held := newIndex(capacities...), make([]int, members)
	var naive [members]vllm
	for m := range naive {
		naive[m].capacity = capacities[m]
	}
	for step := range steps {
		m, blocks := next(members), draw()
		switch v := &naive[m]; next(40) {
		case 0:
			x.clear(m)
			v.free = nil
		case 1:
			v.capacity = next(150)
			x.setCapacity(m, v.capacity)
			v.shrink()
		case 2:
			from := next(len(blocks) + 1)
			x.remove(m, blocks[from:])
			for _, b := range blocks[from:] {
				v.remove(b)
			}
		default:
			want := min(v.match(blocks), v.capacity)
			if got := x.insert(m, blocks, true, nil); got > want { // fewer only if Remove left a gap
				t.Fatalf("step %d: %d blocks were ready, want %d", step, got, want)
			}
			v.run(blocks)
		}
		if x.match(blocks, held); x.held(m) != len(naive[m].free) {
			t.Fatalf("step %d: member %d holds %d blocks, want %d", step, m, x.held(m), len(naive[m].free))
		}
		for m := range naive {
			if want := naive[m].match(blocks); held[m] != want {
				t.Fatalf("step %d: member %d holds the first %d blocks, want %d", step, m, held[m], want)
			}
		}
	}
	checkIndex(t, x)
	for m := range naive {
		x.clear(m)
	}
	if checkIndex(t, x); x.blocks != 0 {
		t.Errorf("%d blocks are left", x.blocks)
	}
}

// checkIndex adds everything up again.
func checkIndex(t *testing.T, x *index) {
	inTable, inQueues, slots := 0, 0, 0
	for at, slot := range x.slots {
		if slot == 0 {
			continue
		}
		slots++
		for n := uint32(slot); n != 0; n = x.nodes[n].next {
			if inTable++; x.slot(x.nodes[n].block) != at {
				t.Errorf("slot %d cannot be found", at)
			}
		}
	}
	for m := range x.queues {
		for n := x.queues[m].oldest; n != 0; n = x.nodes[n].newer {
			if inQueues++; x.find(m, x.nodes[n].block) != n {
				t.Errorf("a block of member %d cannot be found", m)
			}
		}
	}
	free := 0
	for n := x.free; n != 0; n = x.nodes[n].next {
		free++
	}
	if inTable != inQueues || slots != x.blocks || inTable+free+1 != len(x.nodes) {
		t.Errorf("%d nodes in the table, %d in queues, %d free of %d; %d slots of %d blocks", inTable, inQueues, free, len(x.nodes), slots, x.blocks)
	}
}

func TestIndexIsLikeVLLM(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		play(t, rng.IntN, chains(rng, 1+rng.IntN(4), 1+rng.IntN(30)), 3000)
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte("a long prefix is worth more than a short one"), uint64(1))
	f.Fuzz(func(t *testing.T, script []byte, seed uint64) {
		at := 0
		next := func(n int) int {
			if at++; at > len(script) {
				return n - 1
			}
			return int(script[at-1]) % n
		}
		play(t, next, chains(rand.New(rand.NewPCG(seed, 2)), 2, 6), min(len(script), 2000))
	})
}

// TestIndexUnderCollisions: blocks whose upper halves are equal, or end in the same bits, are different blocks.
func TestIndexUnderCollisions(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	draw := func() []Block {
		blocks := make([]Block, 1+rng.IntN(5))
		for i := range blocks {
			blocks[i] = Block(rng.IntN(3)<<60 | rng.IntN(3)<<32 | i<<2 | rng.IntN(4))
		}
		return blocks
	}
	play(t, rng.IntN, draw, 5000)
}

// TestPending: blocks are ready once a request that needs them was answered.
func TestPending(t *testing.T) {
	x := newIndex(10, 10)
	chain := []Block{1 << 40, 2 << 40, 3 << 40, 4 << 40}
	for i, step := range []struct {
		blocks   []Block
		answered bool
		ready    int
	}{{chain[:2], false, 0}, {chain[:3], false, 0}, {chain[:2], true, 0}, {chain, false, 2}, {chain[:3], false, 2}, {chain, true, 2}, {chain, false, 4}} {
		if got := x.insert(0, step.blocks, step.answered, nil); got != step.ready {
			t.Errorf("step %d: %d blocks are ready, want %d", i, got, step.ready)
		}
	}
	if got := x.insert(1, chain, false, nil); got != 0 {
		t.Errorf("%d blocks of another member are ready", got)
	}
}

// TestIndexMemory: a block of a member costs at most 120 bytes, while the table grows and after it.
func TestIndexMemory(t *testing.T) {
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	const members, each = 8, 31_250
	capacities := slices.Repeat([]int{each}, members)
	rng := rand.New(rand.NewPCG(1, 1))
	before := heap()
	x := newIndex(capacities...)
	blocks := make([]Block, each/10)
	for round := range 10 {
		for m := range members {
			for i := range blocks {
				blocks[i] = Block(rng.Uint64())
			}
			x.insert(m, blocks, true, nil)
		}
		n := (round + 1) * len(blocks) * members
		cost := float64(heap()-before) / float64(n)
		if cost > 120 {
			t.Errorf("%d blocks cost %.1f bytes each", n, cost)
		}
		if round == 9 {
			t.Logf("%d blocks cost %.1f bytes each", n, cost)
		}
	}
	runtime.KeepAlive(x)
}

// BenchmarkIndex matches and inserts the chain of 8,000 tokens that all of 8 full members hold.
func BenchmarkIndex(b *testing.B) {
	x, held := newIndex(slices.Repeat([]int{31_250}, 8)...), make([]int, 8)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		blocks := make([]Block, 125)
		for i := range blocks {
			blocks[i] = Block(rng.Uint64())
		}
		for m := range 8 {
			x.insert(m, blocks, true, nil)
		}
	}
	blocks := make([]Block, 125)
	for i := range blocks {
		blocks[i] = Block(rng.Uint64())
	}
	for m := range 8 {
		x.insert(m, blocks, true, nil)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		x.match(blocks, held)
		x.insert(i%8, blocks, true, nil)
	}
}

// TestReach: a block that has not been used while more than the reach were added is not matched, and pending when it is needed again.
func TestReach(t *testing.T) {
	x, held, ages := newIndex(100), make([]int, 1), make([]uint32, 2)
	chain := []Block{1 << 40, 2 << 40}
	x.insert(0, chain, true, nil)
	for i := range 10 {
		x.insert(0, []Block{Block(i+3) << 40}, true, nil)
	}
	for _, step := range []struct {
		reach uint32
		held  int
	}{{unlimited, 2}, {11, 2}, {10, 1}, {9, 0}} {
		x.setReach(0, step.reach)
		if x.match(chain, held); held[0] != step.held || x.reach(0) != step.reach {
			t.Errorf("a reach of %d: %d blocks are held, want %d", step.reach, held[0], step.held)
		}
	}
	x.setReach(0, 10)
	if ready := x.insert(0, chain, false, ages); ready != 1 || ages[0] != 10 || ages[1] != 11 {
		t.Errorf("%d blocks are ready, of ages %v", ready, ages)
	}
	if ready := x.insert(0, append(chain, 1), true, append(ages, 0)); ready != 1 {
		t.Errorf("%d blocks are ready before the answer", ready)
	}
	if x.insert(0, chain, false, ages); ages[0] != 0 || ages[1] != 0 {
		t.Errorf("after the answer: ages %v", ages)
	}
	x.remove(0, chain)
	if x.insert(0, chain, false, ages); ages[0] != absent || ages[1] != absent {
		t.Errorf("after a removal: ages %v", ages)
	}
}
