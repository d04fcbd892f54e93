package policy

// Limit bounds what is resident. 0 is no limit.
type Limit struct {
	Entries int
	Bytes   int64
}

// Ledger keeps an Evictor within a Limit. It is the only owner of the counts of entries and bytes, and the only caller of its
// evictor's Insert and Remove.
//
// A ledger is not safe for concurrent use, like its evictor. It costs one look-up in a table per call beyond the evictor's
// own work.
type Ledger struct {
	evictor Evictor
	expirer Expirer // the evictor, if it is one
	limit   Limit
	sizes   map[ID]int64
	bytes   int64
	faults  int
}

// NewLedger starts an empty ledger over an empty evictor.
func NewLedger(e Evictor, limit Limit) *Ledger {
	expirer, _ := e.(Expirer)
	return &Ledger{evictor: e, expirer: expirer, limit: limit, sizes: map[ID]int64{}}
}

// Insert makes it resident, then evicts while a limit is exceeded, and returns evicted with the victims appended, in
// order; its own ID may be among them. An item that alone exceeds Limit.Bytes is its only victim, and is not
// passed to the evictor. Insert of a resident ID, or of 0, changes nothing. A negative size counts as 0.
func (l *Ledger) Insert(it Item, at Tick, evicted []ID) []ID {
	if it.ID == 0 || l.Has(it.ID) {
		return evicted
	}
	it.Size = max(it.Size, 0)
	if l.limit.Bytes > 0 && it.Size > l.limit.Bytes {
		return append(evicted, it.ID)
	}
	l.evictor.Insert(it, at)
	l.sizes[it.ID] = it.Size
	l.bytes += it.Size
	for l.over() {
		evicted = append(evicted, l.evict(it.ID))
	}
	return evicted
}

// Trim evicts while a limit is exceeded, but most victims at most, and returns evicted with the victims appended, in order. With a Trim
// after each Insert, Replace and Grow a ledger without a limit of its own has the victims of one with it. A faulty evictor ends it.
func (l *Ledger) Trim(limit Limit, most int, evicted []ID) []ID {
	for ; most > 0 && limit.over(l.Entries(), l.bytes); most-- {
		id, ok := l.evictor.Victim()
		if !ok || !l.Remove(id, Evicted) {
			l.faults++
			break
		}
		evicted = append(evicted, id)
	}
	return evicted
}

// Hit counts a request that id answered.
func (l *Ledger) Hit(id ID, at Tick) { l.evictor.Hit(id, at) }

// Replace replaces the answer of the resident it.ID, which keeps its identity and its state in the policy,
// then evicts while a limit is exceeded, and returns evicted with the victims appended, in order. An answer that alone
// exceeds Limit.Bytes makes its entry the only victim. An unknown ID, or 0, changes nothing.
func (l *Ledger) Replace(it Item, at Tick, evicted []ID) []ID {
	size, ok := l.sizes[it.ID]
	if !ok {
		return evicted
	}
	it.Size = max(it.Size, 0)
	if l.limit.Bytes > 0 && it.Size > l.limit.Bytes {
		l.Remove(it.ID, Evicted)
		return append(evicted, it.ID)
	}
	l.bytes += it.Size - size
	l.sizes[it.ID] = it.Size
	if r, ok := l.evictor.(Replacer); ok {
		r.Replace(it, at)
	} else {
		l.evictor.Hit(it.ID, at)
	}
	for l.over() {
		evicted = append(evicted, l.evict(it.ID))
	}
	return evicted
}

// Grow changes the size of the resident id by some bytes, of what it has beside its item, then evicts while a limit is exceeded, and
// returns evicted with the victims appended, in order; id may be among them. The evictor sees only the removal of victims: an
// order by size is that of the items. An unknown ID, or 0, changes nothing.
func (l *Ledger) Grow(id ID, by int64, evicted []ID) []ID {
	size, ok := l.sizes[id]
	if !ok {
		return evicted
	}
	by = max(by, -size)
	l.sizes[id] = size + by
	l.bytes += by
	for l.over() {
		evicted = append(evicted, l.evict(id))
	}
	return evicted
}

// Remove drops id, and reports whether it was resident.
func (l *Ledger) Remove(id ID, why Reason) bool {
	size, ok := l.sizes[id]
	if !ok {
		return false
	}
	l.evictor.Remove(id, why)
	delete(l.sizes, id)
	l.bytes -= size
	return true
}

// EvictNamed removes id as a victim chosen elsewhere, as when a log is applied. It calls Victim first, so that a policy that
// draws numbers or changes queues there has the same state as the one that chose, and reports whether that victim is id.
// An id that is not resident changes nothing.
func (l *Ledger) EvictNamed(id ID) (same bool) {
	if !l.Has(id) {
		return false
	}
	victim, ok := l.evictor.Victim()
	l.Remove(id, Evicted)
	return ok && victim == id
}

// Expired reports whether id is resident but must not answer any more. The caller then calls Remove instead of Hit.
func (l *Ledger) Expired(id ID, at Tick) bool { return l.expirer != nil && l.expirer.Expired(id, at) }

// Expires reports whether Expired can ever be true.
func (l *Ledger) Expires() bool { return l.expirer != nil }

// Fits reports whether one more item of some size would leave the limits kept, so that nothing were evicted for it.
func (l *Ledger) Fits(size int64) bool {
	return (l.limit.Entries <= 0 || l.Entries() < l.limit.Entries) && (l.limit.Bytes <= 0 || l.bytes+max(size, 0) <= l.limit.Bytes)
}

// Has reports whether id is resident.
func (l *Ledger) Has(id ID) bool {
	_, ok := l.sizes[id]
	return ok
}

// Entries is the number of residents.
func (l *Ledger) Entries() int { return len(l.sizes) }

// Bytes is the sum of the sizes of the residents.
func (l *Ledger) Bytes() int64 { return l.bytes }

// Faults counts the times when the evictor named no victim or one that was not resident. Any value except 0 is a bug in it.
func (l *Ledger) Faults() int { return l.faults }

func (l *Ledger) over() bool { return l.limit.over(len(l.sizes), l.bytes) }

func (l Limit) over(entries int, bytes int64) bool {
	return l.Entries > 0 && entries > l.Entries || l.Bytes > 0 && bytes > l.Bytes
}

// evict removes the victim. If that is none or not resident, it removes the newcomer: without it the limits held, so a faulty
// evictor costs one answer that is not kept, and cannot cause an endless loop or exceed the limits.
func (l *Ledger) evict(newcomer ID) ID {
	id, ok := l.evictor.Victim()
	if ok && l.Remove(id, Evicted) {
		return id
	}
	l.faults++
	if ok {
		l.evictor.Remove(id, Evicted)
	}
	l.Remove(newcomer, Evicted)
	return newcomer
}
