package policy

// srLRU is the expert of Cacheus that resists scans. Two lists share the capacity, half each at first. Once holds what was
// used once and, demoted, what fell out of the other; reused holds what was used again or came back from the history of as
// many evicted entries as the capacity. A hit on a demoted entry tells that reused is too small, a miss on an entry of the
// history that was never used again that once is; the one gains from the other, by the more the rarer that case is.
type srLRU struct {
	slab     *slab[cacheusEntry]
	once     queue
	reused   queue
	room     int // of reused
	capacity int
	past     history[srGhost]
	demoted  int // residents
	fresh    int // of the history: never used again
}

// cacheusEntry is what Cacheus knows of a resident beside its count.
type cacheusEntry struct {
	key             uint64
	fresh           bool // not used again
	demoted, reused bool // in once, fallen out of reused; in reused
}

type srGhost struct {
	count float64
	fresh bool
}

func newSRLRU(s *slab[cacheusEntry], capacity int) srLRU {
	l := srLRU{slab: s, capacity: capacity, room: capacity - capacity/2}
	l.past.room = capacity
	return l
}

// insert takes in what was missed and returns the count of its uses, those before an eviction included.
func (l *srLRU) insert(slot uint32) float64 {
	e := &l.slab.cells[slot].val
	ghost, ok := l.recall(e.key)
	if !ok {
		e.fresh = true
		l.slab.pushHead(&l.once, slot)
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
	e := &l.slab.cells[slot].val
	e.fresh = false
	if e.reused {
		l.slab.toHead(&l.reused, slot)
		return
	}
	l.slab.unlink(&l.once, slot)
	if e.demoted {
		l.resize(gain(l.fresh, l.demoted))
		e.demoted = false
		l.demoted--
	}
	l.promote(slot)
}

// promote puts slot into reused and makes it fit.
func (l *srLRU) promote(slot uint32) {
	for l.reused.n > 0 && l.reused.n >= l.room {
		old := l.reused.tail
		e := &l.slab.cells[old].val
		e.reused, e.demoted = false, true
		l.demoted++
		l.slab.unlink(&l.reused, old)
		l.slab.pushHead(&l.once, old)
	}
	l.slab.cells[slot].val.reused = true
	l.slab.pushHead(&l.reused, slot)
}

func (l *srLRU) oldest() uint32 {
	if l.once.n > 0 {
		return l.once.tail
	}
	return l.reused.tail
}

// evict takes slot out and remembers it with its count.
func (l *srLRU) evict(slot uint32, count float64) {
	l.remember(slot, srGhost{count, l.slab.cells[slot].val.fresh})
}

// expire is evict for an entry whose return moves no room: it is not counted as fresh.
func (l *srLRU) expire(slot uint32, count float64) { l.remember(slot, srGhost{count: count}) }

func (l *srLRU) remember(slot uint32, ghost srGhost) {
	key := l.slab.cells[slot].val.key
	l.purge(slot)
	if ghost.fresh {
		l.fresh++
	}
	l.recall(key) // of another entry of this identity
	if old, dropped := l.past.add(key, ghost); dropped && old.fresh {
		l.fresh--
	}
}

// recall takes key out of the history.
func (l *srLRU) recall(key uint64) (srGhost, bool) {
	ghost, ok := l.past.take(key)
	if ghost.fresh {
		l.fresh--
	}
	return ghost, ok
}

// purge takes slot out.
func (l *srLRU) purge(slot uint32) {
	e := l.slab.cells[slot].val
	if e.demoted {
		l.demoted--
	}
	if e.reused {
		l.slab.unlink(&l.reused, slot)
	} else {
		l.slab.unlink(&l.once, slot)
	}
}

// resize gives reused that much more room. Neither list loses the last of its room.
func (l *srLRU) resize(by int) {
	l.room = max(1, min(l.capacity-1, l.room+by))
}

// gain is the rounded ratio of how often the other case stands and how often this one does, at least 1.
func gain(other, this int) int {
	return max(1, (2*other+this)/(2*max(this, 1)))
}
