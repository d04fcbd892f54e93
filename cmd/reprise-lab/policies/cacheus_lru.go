package policies

import (
	"reprise/internal/container"
	"reprise/policy"
)

// srLRU is the expert of Cacheus that resists scans. Two lists share the capacity, half each at first. Once holds entries used
// once and, demoted, those that left the other list; reused holds entries used again, or returned from the history of as many
// evicted entries as the capacity. A hit on a demoted entry shows that reused is too small, a miss on an entry of the history
// that was never used again that once is; then this list grows at the cost of the other, by more the rarer the case is.
type srLRU struct {
	slots    *container.Slots[policy.ID, cacheusEntry]
	once     container.Queue
	reused   container.Queue
	room     int // of reused
	capacity int
	past     container.History[srGhost]
	demoted  int // residents
	fresh    int // of the history: never used again
}

// cacheusEntry is the state of a resident beside its count.
type cacheusEntry struct {
	key             uint64
	fresh           bool // not used again
	demoted, reused bool // in once, fallen out of reused; in reused
}

type srGhost struct {
	count float64
	fresh bool
}

func newSRLRU(s *container.Slots[policy.ID, cacheusEntry], capacity int) srLRU {
	l := srLRU{slots: s, capacity: capacity, room: capacity - capacity/2}
	l.past.Room = capacity
	return l
}

// insert adds a missed item and returns the count of its uses, those before an eviction included.
func (l *srLRU) insert(slot uint32) float64 {
	e := &l.slots.Cells[slot].Val
	ghost, ok := l.recall(e.key)
	if !ok {
		e.fresh = true
		l.slots.PushHead(&l.once, slot)
		return 1
	}
	if ghost.fresh {
		l.resize(-gain(l.demoted, l.fresh+1))
	}
	l.promote(slot)
	return ghost.count + 1
}

// use moves slot to the newest end of reused.
func (l *srLRU) use(slot uint32) {
	e := &l.slots.Cells[slot].Val
	e.fresh = false
	if e.reused {
		l.slots.ToHead(&l.reused, slot)
		return
	}
	l.slots.Unlink(&l.once, slot)
	if e.demoted {
		l.resize(gain(l.fresh, l.demoted))
		e.demoted = false
		l.demoted--
	}
	l.promote(slot)
}

// promote puts slot into reused and makes it fit.
func (l *srLRU) promote(slot uint32) {
	for l.reused.Len > 0 && l.reused.Len >= l.room {
		old := l.reused.Tail
		e := &l.slots.Cells[old].Val
		e.reused, e.demoted = false, true
		l.demoted++
		l.slots.Unlink(&l.reused, old)
		l.slots.PushHead(&l.once, old)
	}
	l.slots.Cells[slot].Val.reused = true
	l.slots.PushHead(&l.reused, slot)
}

func (l *srLRU) oldest() uint32 {
	if l.once.Len > 0 {
		return l.once.Tail
	}
	return l.reused.Tail
}

// evict removes slot and adds it to the history with its count.
func (l *srLRU) evict(slot uint32, count float64) {
	l.remember(slot, srGhost{count, l.slots.Cells[slot].Val.fresh})
}

// expire is evict for an entry whose return moves no room: it is not counted as fresh.
func (l *srLRU) expire(slot uint32, count float64) { l.remember(slot, srGhost{count: count}) }

func (l *srLRU) remember(slot uint32, ghost srGhost) {
	key := l.slots.Cells[slot].Val.key
	l.purge(slot)
	if ghost.fresh {
		l.fresh++
	}
	l.recall(key) // of another entry of this identity
	if old, dropped := l.past.Add(key, ghost); dropped && old.fresh {
		l.fresh--
	}
}

// recall removes key from the history.
func (l *srLRU) recall(key uint64) (srGhost, bool) {
	ghost, ok := l.past.Take(key)
	if ghost.fresh {
		l.fresh--
	}
	return ghost, ok
}

// purge removes slot.
func (l *srLRU) purge(slot uint32) {
	e := l.slots.Cells[slot].Val
	if e.demoted {
		l.demoted--
	}
	if e.reused {
		l.slots.Unlink(&l.reused, slot)
	} else {
		l.slots.Unlink(&l.once, slot)
	}
}

// resize makes reused larger by that much. Each list keeps at least one entry.
func (l *srLRU) resize(by int) {
	l.room = max(1, min(l.capacity-1, l.room+by))
}

// gain is the rounded ratio of the counts of the other case and of this one, at least 1.
func gain(other, this int) int {
	return max(1, (2*other+this)/(2*max(this, 1)))
}
