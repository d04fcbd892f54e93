package policies

import (
	"math"

	"reprise/internal/container"
	"reprise/policy"
)

// arcSpec describes arc and its parameters.
var arcSpec = policy.Spec{
	Name: "arc", Says: "adaptive: an LRU for what came once, one for what came again, and ghosts of both to size them",
	New: func(a policy.Args) policy.Evictor { return newARC(policy.CapacityOf(a)) },
}

// ARC keeps entries requested once in the LRU t1, and those requested again in t2. Evicted entries of each become ghosts, in b1
// and b2; a return to one of these shows that its list is too short, and moves the target size of t1,
//
//	p = min(p + max(|b2|/|b1|, 1), C) on a return to b1
//	p = max(p - max(|b1|/|b2|, 1), 0) on a return to b2
//
// and is admitted to t2. The victim comes from t1 while it is longer than p, else from t2. |t1|+|b1| is C at most and all four
// lists together 2C, the new entry counted. It has no parameter. p and its steps are real numbers, as in the paper.
//
// With a limit in bytes C is how many entries fitted at the latest eviction, so that p stays a share of the residents.
//
// Every call is O(1). Memory per resident: some 45 bytes, and 30 for each ghost.
// Source: Megiddo and Modha, ARC: a self-tuning, low overhead replacement cache, FAST 2003.
type ARC struct {
	slots   container.Slots[policy.ID, arc]
	t1, t2  container.Queue
	b1, b2  container.Ghosts
	expired container.Ghosts // of t2; at most C
	p       float64
	c       policy.Capacity
	staged  uint32
	inB2    bool // the staged entry was a ghost of b2
}

type arc struct {
	key   uint64
	again bool // in t2, or to be
}

var _ policy.Evictor = (*ARC)(nil)

func newARC(size policy.Capacity) *ARC {
	forever := container.NewGhosts(math.MaxInt) // trim bounds them together
	return &ARC{c: size, b1: forever, b2: forever}
}

// Insert stages a ghost for t2 and moves p, and any other item for t1.
func (a *ARC) Insert(it policy.Item, _ policy.Tick) {
	if _, ok := a.slots.Find(it.ID); ok {
		return
	}
	a.link()
	key := it.Identity()
	a.staged = a.slots.Add(it.ID, arc{key: key, again: a.returned(key)})
}

// Hit moves id to the newest end of t2.
func (a *ARC) Hit(id policy.ID, _ policy.Tick) {
	slot, ok := a.slots.Find(id)
	if !ok {
		return
	}
	a.link()
	e := &a.slots.Cells[slot].Val
	if e.again {
		a.slots.ToHead(&a.t2, slot)
		return
	}
	e.again = true
	a.slots.Unlink(&a.t1, slot)
	a.slots.PushHead(&a.t2, slot)
}

// Victim is the oldest entry of t1 or of t2.
func (a *ARC) Victim() (policy.ID, bool) {
	slot := a.t2.Tail
	if n := float64(a.t1.Len); n > 0 && (n > a.p || n == a.p && a.inB2 || slot == 0) {
		slot = a.t1.Tail
	}
	if slot == 0 {
		slot = a.staged
	}
	return a.slots.Name(slot)
}

// Remove drops id. An evicted entry becomes a ghost, which moves p when it returns. One that expired in t2 returns there
// and does not move p.
func (a *ARC) Remove(id policy.ID, why policy.Reason) {
	slot, ok := a.slots.Find(id)
	if !ok {
		return
	}
	e := a.slots.Cells[slot].Val
	list, gone := &a.t1, &a.b1
	if e.again {
		list, gone = &a.t2, &a.b2
	}
	if slot == a.staged {
		a.staged = 0
	} else {
		a.slots.Unlink(list, slot)
	}
	a.slots.Free(slot)
	switch {
	case why == policy.Evicted:
		gone.Add(e.key)
		a.trim()
	case why == policy.Expired && e.again:
		a.expired.Room = a.c.N
		a.expired.Add(e.key)
	}
}

// link puts the staged entry into its list.
func (a *ARC) link() {
	a.inB2 = false
	if a.staged == 0 {
		return
	}
	to := &a.t1
	if a.slots.Cells[a.staged].Val.again {
		to = &a.t2
	}
	a.slots.PushHead(to, a.staged)
	a.staged = 0
}

// returned moves p if key is a ghost, and reports whether it is.
func (a *ARC) returned(key uint64) bool {
	n1, n2 := float64(a.b1.Len()), float64(a.b2.Len())
	switch {
	case a.b1.Take(key):
		a.p = min(a.p+max(n2/n1, 1), float64(a.c.N))
	case a.expired.Len() > 0 && a.expired.Take(key):
	case a.b2.Take(key):
		a.p = max(a.p-max(n1/n2, 1), 0)
		a.inB2 = true
	default:
		return false
	}
	return true
}

// trim drops the oldest ghosts beyond the capacity.
func (a *ARC) trim() {
	if a.c.Evicted(a.slots.Len()) {
		a.p = min(a.p, float64(a.c.N))
	}
	once := a.t1.Len
	if a.staged != 0 && !a.slots.Cells[a.staged].Val.again {
		once++
	}
	a.b1.Trim(a.c.N - once)
	a.b2.Trim(2*a.c.N - a.slots.Len() - a.b1.Len())
}
