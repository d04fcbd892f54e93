package classic

import (
	"math"
	"math/rand/v2"

	"reprise/internal/container"
	"reprise/policy"
)

// TinyLFUSpec describes w-tinylfu and its parameters.
var TinyLFUSpec = policy.Spec{
	Name: "w-tinylfu", Says: "a small LRU window, and behind it what was asked for more often lately than what it replaces",
	Params: []policy.Param{
		{Name: "window", Says: "entries in the window at first, at least 1", Default: "0.01C", Max: 1e12},
		{Name: "climb", Says: "move the size of the window to where more is hit", Default: "on",
			Choices: []string{"on", "off"}},
		{Name: "age", Says: "counts are halved after so many requests, the sketch's again after half as many; 0 is never",
			Default: "10C", Max: 1e12},
	},
	New: makeTinyLFU,
}

func makeTinyLFU(a policy.Args) policy.Evictor {
	l := newTinyLFU(policy.CapacityOf(a), a.Whole("window"), newSketch(a.Capacity, a.Whole("age")), a.Seed)
	l.climbs = a.Choice("climb") == "on"
	return l
}

// tinyLFU is W-TinyLFU as in the library Caffeine. A new entry comes into the window, an LRU of 1 % at first. An entry that
// leaves the window replaces main's next victim only if it was requested more often of late,
//
//	f(candidate) > f(victim), or f(candidate) ≥ 6 and one chance in 128
//
// where the random chance prevents that a client that can compute the hash keeps a key out of main for ever. Main is a
// segmented LRU: what is hit on probation (a fifth) becomes protected, whose oldest then goes back on probation.
// f is a sketch (see there) of every request, first halved after 10 C of them and then after 5 C or more.
//
// Every 10 C requests the window is moved by a step, on in the same direction if there were more hits than in the 10 C before,
// else back. The step shrinks by 2 % each time and is 6.25 % of C again when the hit ratio moved by 5 points. The first
// sample is compared with 0 and the first step goes down, so nothing moves in a trace shorter than 20 C. Step, decay,
// restart and sample are Caffeine's.
//
// Mean hits in per cent over the 48 traces of package workload's Study and Long, seeds 1 to 3, at their capacities of 300
// to 1,000 and at 100 entries:
//
//	climb=on   37.2  16.0
//	climb=off  36.6  15.6
//
// The climb earns most where what was used last returns first (lru: 35 for 28, and 28 for 16 at 100 entries), and costs up
// to 1.7 points where a window of 1 % is better: on 14 of the traces, on 39 at 100 entries. There a sample of 10 C
// is 1,000 requests, in which chance moves the hit ratio by a point or more, and the window wanders.
//
// This policy refuses: an entry may be evicted as soon as it has left the window. Sketch and age have the size of the given
// capacity; window and main follow the number that fits where the limit is in bytes.
//
// Every call is O(1). Memory per resident: some 55 bytes. Source: Einziger, Friedman and Manes, TinyLFU: a highly
// efficient cache admission policy, ACM ToS 2017; Einziger, Eytan, Friedman and Manes, Adaptive software cache
// management, Middleware 2018.
type tinyLFU struct {
	slots  container.Slots[policy.ID, tinyLFUEntry]
	queues [3]container.Queue // by segment
	freq   *sketch
	rand   *rand.Rand
	size   policy.Capacity
	room   int // of the window
	climbs bool
	climber
	chosen uint32 // the victim until something changes
}

type tinyLFUEntry struct {
	key uint64
	in  segment
}

type segment uint8

const (
	window segment = iota
	probation
	protected
)

var _ policy.Evictor = (*tinyLFU)(nil)

func newTinyLFU(size policy.Capacity, window int, f *sketch, seed uint64) *tinyLFU {
	window = max(1, window)
	return &tinyLFU{
		size: size, room: window, freq: f, rand: rand.New(rand.NewPCG(seed, 0x71F0)),
		climber: climber{share: float64(window) / float64(size.N), step: -climbStep},
	}
}

// Insert puts it at the newest end of the window. What fell out of it before found room and goes on probation.
func (l *tinyLFU) Insert(it policy.Item, _ policy.Tick) {
	if _, ok := l.slots.Find(it.ID); ok {
		return
	}
	key := it.Identity()
	l.request(key, false)
	l.shift()
	l.slots.PushHead(&l.queues[window], l.slots.Add(it.ID, tinyLFUEntry{key: key}))
}

// Hit moves id to the newest end of its segment, from probation to protected.
func (l *tinyLFU) Hit(id policy.ID, _ policy.Tick) {
	slot, ok := l.slots.Find(id)
	if !ok {
		return
	}
	e := &l.slots.Cells[slot].Val
	l.request(e.key, true)
	to := e.in
	if to == probation {
		to = protected
	}
	l.move(slot, to)
	if main := max(0, l.size.N-l.room); l.queues[protected].Len > main*4/5 {
		l.move(l.queues[protected].Tail, probation)
	}
}

// Victim names the loser of what falls out of the window and the oldest of main.
func (l *tinyLFU) Victim() (policy.ID, bool) {
	if l.chosen == 0 {
		l.chosen = l.choose()
	}
	return l.slots.Name(l.chosen)
}

// Remove drops id. Its count stays, whatever the reason: others share it.
func (l *tinyLFU) Remove(id policy.ID, why policy.Reason) {
	slot, ok := l.slots.Find(id)
	if !ok {
		return
	}
	l.slots.Unlink(&l.queues[l.slots.Cells[slot].Val.in], slot)
	l.slots.Free(slot)
	l.chosen = 0
	if why == policy.Evicted {
		l.size.Evicted(l.slots.Len())
	}
}

// request counts one, towards its key and towards the next step of the climb.
func (l *tinyLFU) request(key uint64, hit bool) {
	l.chosen = 0
	l.freq.add(key)
	if l.climbs {
		l.climber.request(hit, l.size.N)
	}
}

// choose lets the oldest of main go if the window has not overflown.
func (l *tinyLFU) choose() uint32 {
	victim := l.oldest()
	candidate := l.queues[window].Tail
	switch {
	case victim == 0:
		return candidate
	case l.queues[window].Len <= l.room || l.admits(candidate, victim):
		return victim
	}
	return candidate
}

// oldest is what main would lose next, 0 if it is empty.
func (l *tinyLFU) oldest() uint32 {
	if l.queues[probation].Len > 0 {
		return l.queues[probation].Tail
	}
	return l.queues[protected].Tail
}

func (l *tinyLFU) admits(candidate, victim uint32) bool {
	f := l.freq.of(l.slots.Cells[candidate].Val.key)
	if f > l.freq.of(l.slots.Cells[victim].Val.key) {
		return true
	}
	return f >= 6 && l.rand.Uint32()&127 == 0
}

// shift moves the window's room by one towards what the climb wants, and entries between window and main accordingly.
func (l *tinyLFU) shift() {
	want := min(max(1, int(math.Round(l.share*float64(l.size.N)))), l.size.N)
	switch {
	case l.room < want:
		l.room++
		if slot := l.oldest(); slot != 0 && l.queues[window].Len < l.room {
			l.move(slot, window)
		}
	case l.room > want:
		l.room--
	}
	for l.queues[window].Len > l.room {
		l.move(l.queues[window].Tail, probation)
	}
}

// move puts slot at the newest end of a segment.
func (l *tinyLFU) move(slot uint32, to segment) {
	e := &l.slots.Cells[slot].Val
	l.slots.Unlink(&l.queues[e.in], slot)
	l.slots.PushHead(&l.queues[to], slot)
	e.in = to
}

// climber looks for the share of the window at which most is hit.
type climber struct {
	share, step    float64 // of the capacity; step with its direction
	ratio          float64 // hit in the sample before
	hits, requests int     // in this one
}

const (
	climbStep    = 0.0625
	climbDecay   = 0.98
	climbRestart = 0.05
	climbMost    = 0.8
)

// request counts one, and takes a step at the end of a sample of 10 c.
func (k *climber) request(hit bool, c int) {
	k.requests++
	if hit {
		k.hits++
	}
	if k.requests < 10*c {
		return
	}
	ratio := float64(k.hits) / float64(k.requests)
	k.climb(ratio - k.ratio)
	k.ratio, k.hits, k.requests = ratio, 0, 0
}

// climb steps on after a change for the better, back after one for the worse.
func (k *climber) climb(change float64) {
	if change < 0 {
		k.step = -k.step
	}
	k.share = min(max(0, k.share+k.step), climbMost)
	if change <= -climbRestart || change >= climbRestart {
		k.step = math.Copysign(climbStep, k.step)
	} else {
		k.step *= climbDecay
	}
}
