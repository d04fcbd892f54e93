package classic

import (
	"math"
	"math/bits"

	"reprise/internal/container"
	"reprise/policy"
	"reprise/policy/spec"
)

// libTinyLFUSpec is not among the policies that have names: it is there to check what it shares with TinyLFU against known
// answers.
var libTinyLFUSpec = spec.Spec{
	Name: "w-tinylfu-libcachesim", Says: "W-TinyLFU as libCacheSim has it",
	Params: []policy.Param{
		{Name: "window", Says: "entries in the window", Default: "0.01C", Max: 1e12},
		{Name: "counts", Says: "how frequencies are counted", Default: "bloom", Choices: []string{"bloom", "exact"}},
	},
	New: func(a spec.Args) policy.Evictor {
		return newLibTinyLFU(a.Capacity, a.Whole("window"), a.Choice("counts") == "exact")
	},
}

// libTinyLFU is W-TinyLFU as libCacheSim has it, for comparison with published figures; the other forms are better. What
// differs from TinyLFU: nothing is counted on a hit in the window, frequencies come from a counting Bloom filter, the
// window may be 0 (below a capacity of 100), which refuses everything, and an admission evicts one entry too many. With
// exact counts in place of the filter it evicts one entry only, as the model does that the known
// answers come from; those counts are as many as there are keys between two halvings.
//
// It evicts by its own rule and not when Victim is called, so it needs its capacity, and an entry that it has evicted expires
// at once: it stays resident, without an answer, until a victim is needed.
//
// Every call is O(1), Insert on average. Memory per resident: some 120 bytes, of which the filter is 58.
type libTinyLFU struct {
	slots     container.Slots[policy.ID, tinyLFU]
	queues    [4]container.Queue // by segment
	counts    fadingFrequency
	single    bool // an admission is the end of an eviction
	c         int
	room      int // of the window
	main      int
	mainHits  int
	segmented [2]int // room of probation, protected
}

// evicted is the segment of what no longer counts.
const evicted segment = protected + 1

var (
	_ policy.Evictor = (*libTinyLFU)(nil)
	_ policy.Expirer = (*libTinyLFU)(nil)
)

// fadingFrequency is a frequency whose owner decides when to halve.
type fadingFrequency interface {
	frequency
	halve()
}

func newLibTinyLFU(capacity, window int, exact bool) *libTinyLFU {
	window = min(window, capacity-1)
	main := capacity - window
	l := &libTinyLFU{
		c: capacity, room: window, main: main, counts: newBloom(main),
		segmented: [2]int{main / 5, main * 4 / 5},
	}
	if exact {
		l.counts, l.single = &tally{}, true
	}
	return l
}

// Insert makes room first.
func (l *libTinyLFU) Insert(it policy.Item, _ policy.Tick) {
	if _, ok := l.slots.Find(it.ID); ok {
		return
	}
	e := tinyLFU{key: it.Identity()}
	if l.room == 0 {
		e.in = evicted
	} else {
		for l.live() >= l.c {
			l.evict()
		}
		l.counts.add(e.key)
	}
	l.slots.PushHead(&l.queues[e.in], l.slots.Add(it.ID, e))
}

// Hit moves id to the newest end of its segment, from probation to protected.
func (l *libTinyLFU) Hit(id policy.ID, _ policy.Tick) {
	slot, ok := l.slots.Find(id)
	if !ok {
		return
	}
	e := &l.slots.Cells[slot].Val
	switch e.in {
	case probation, protected:
		l.counts.add(e.key)
		l.mainHit()
		l.move(slot, protected)
		l.cool()
	case window:
		l.move(slot, window)
	}
}

// Victim names the first that was evicted.
func (l *libTinyLFU) Victim() (policy.ID, bool) {
	if l.queues[evicted].Len == 0 && l.live() > 0 {
		l.evict()
	}
	return l.slots.Name(l.queues[evicted].Tail)
}

// Remove drops id.
func (l *libTinyLFU) Remove(id policy.ID, _ policy.Reason) {
	if slot, ok := l.slots.Find(id); ok {
		l.slots.Unlink(&l.queues[l.slots.Cells[slot].Val.in], slot)
		l.slots.Free(slot)
	}
}

// Expired reports whether id was evicted.
func (l *libTinyLFU) Expired(id policy.ID, _ policy.Tick) bool {
	slot, ok := l.slots.Find(id)
	return ok && l.slots.Cells[slot].Val.in == evicted
}

func (l *libTinyLFU) live() int { return l.slots.Len() - l.queues[evicted].Len }

func (l *libTinyLFU) inMain() int { return l.queues[probation].Len + l.queues[protected].Len }

// evict empties the window into main while what falls out wins, and ends with the first that loses. When all have won
// main loses one more.
func (l *libTinyLFU) evict() {
	for l.queues[window].Len > 0 {
		slot := l.queues[window].Tail
		key := l.slots.Cells[slot].Val.key
		if l.inMain() < l.main {
			l.counts.add(key)
			l.admit(slot)
			continue
		}
		victim := l.oldest()
		wins := l.counts.of(key) > l.counts.of(l.slots.Cells[victim].Val.key)
		l.counts.add(key)
		if !wins {
			l.move(slot, evicted)
			return
		}
		l.move(victim, evicted)
		l.admit(slot)
		if l.single {
			return
		}
	}
	l.move(l.oldest(), evicted)
}

// cool takes from protected what is beyond its room, and evicts what is then beyond that of probation: the rooms are
// rounded down, so that probation may hold one more than its own.
func (l *libTinyLFU) cool() {
	if l.queues[protected].Len <= l.segmented[1] {
		return
	}
	l.move(l.queues[protected].Tail, probation)
	if l.queues[probation].Len > l.segmented[0] {
		l.move(l.queues[probation].Tail, evicted)
	}
}

// admit puts slot into the lowest segment that has room, on probation if none has.
func (l *libTinyLFU) admit(slot uint32) {
	if l.queues[probation].Len >= l.segmented[0] && l.queues[protected].Len < l.segmented[1] {
		l.move(slot, protected)
	} else {
		l.move(slot, probation)
	}
}

func (l *libTinyLFU) oldest() uint32 {
	if l.queues[probation].Len > 0 {
		return l.queues[probation].Tail
	}
	return l.queues[protected].Tail
}

// mainHit halves the counters after 32 hits in main per entry of it.
func (l *libTinyLFU) mainHit() {
	if l.mainHits++; l.mainHits >= 32*l.main {
		l.mainHits = 0
		l.counts.halve()
	}
}

func (l *libTinyLFU) move(slot uint32, to segment) {
	e := &l.slots.Cells[slot].Val
	l.slots.Unlink(&l.queues[e.in], slot)
	l.slots.PushHead(&l.queues[to], slot)
	e.in = to
}

// bloom is a counting Bloom filter of ten hashes, whose estimate is the least of ten counters. It has a page of counters
// once one of them is counted, since a capacity may be far more than what ever comes.
type bloom struct {
	n     uint64 // counters
	pages []*bloomPage
}

type bloomPage [1 << 10]uint32

// bloomRate is the counters per entry at which one estimate in 1000 is too high: -ln(0.001) / ln(2)².
const bloomRate = 14.377587566

// newBloom has no more counters than there are hashes of 32 bits.
func newBloom(entries int) *bloom {
	n := uint64(min(max(1, math.Ceil(bloomRate*float64(entries))), math.MaxUint32))
	return &bloom{n: n, pages: make([]*bloomPage, n/uint64(len(bloomPage{}))+1)}
}

func (b *bloom) add(key uint64) {
	for _, i := range b.places(key) {
		page := &b.pages[i/uint32(len(bloomPage{}))]
		if *page == nil {
			*page = new(bloomPage)
		}
		(*page)[i%uint32(len(bloomPage{}))]++
	}
}

func (b *bloom) of(key uint64) int {
	least := uint32(math.MaxUint32)
	for _, i := range b.places(key) {
		page := b.pages[i/uint32(len(bloomPage{}))]
		if page == nil {
			return 0
		}
		least = min(least, page[i%uint32(len(bloomPage{}))])
	}
	return int(least)
}

func (b *bloom) halve() {
	for _, page := range b.pages {
		if page == nil {
			continue
		}
		for i := range page {
			page[i] /= 2
		}
	}
}

// places are the counters of key. A trace's own number is hashed, which is one less than its key here, where 0 is no key;
// figures depend on it, because which keys collide does.
func (b *bloom) places(key uint64) (at [10]uint32) {
	x, step := uint32(xxh64(key-1, 0x12345678)), uint32(xxh64(key-1, 0x12344321))
	for i := range at {
		at[i] = (x + uint32(i)*step) % uint32(b.n)
	}
	return at
}

// xxh64 is XXH64 of the eight bytes of x, the lowest first.
func xxh64(x, seed uint64) uint64 {
	const p1, p2, p3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
	const p4, p5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
	h := seed + p5 + 8
	h ^= bits.RotateLeft64(x*p2, 31) * p1
	h = bits.RotateLeft64(h, 27)*p1 + p4
	h = (h ^ h>>33) * p2
	h = (h ^ h>>29) * p3
	return h ^ h>>32
}
