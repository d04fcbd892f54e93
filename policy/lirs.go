package policy

var lirsSpec = spec{
	name: "lirs", says: "keeps what returns after few other entries were used, however long ago it came",
	params: []Param{
		{Name: "hir", Says: "entries for what returns late or not at all, at least 1", Default: "0.01C", Max: 1e12},
		{Name: "stack", Says: "most entries in the stack, ghosts among them", Default: "2C", Max: 1e12},
	},
	make: func(a args) Evictor { return newLIRS(a.capacity(), a.whole("hir"), a.whole("stack")) },
}

// LIRS divides the entries by their inter-reference recency, how many others were used between their last two uses. The
// low ones (LIR) stay; the others (HIR), 1 % of the entries, stand in a FIFO from which the victims come. The stack holds
// all LIR and what was used later than the oldest of them, evicted HIR included. What is used while it is in the stack
// has returned sooner than the oldest LIR, and takes its place; that one becomes the youngest HIR.
//
// The stack has 2 C entries at most: beyond them the oldest ghost is forgotten. Before the first LIR were displaced every
// new entry is one. With a limit in bytes C is how many entries fitted at the latest eviction.
//
// Every call is O(1) on average: a HIR that is dropped from the stack's end was put there by a request. Memory per
// resident: some 70 bytes, and 140 for each ghost. Source: Jiang and Zhang, LIRS: an efficient low inter-reference
// recency set replacement policy, SIGMETRICS 2002.
type LIRS struct {
	stack              slab[lirs] // LIR, HIR and ghosts, each under the ID that it has or had
	order              queue      // of the stack, the latest used at its head; a LIR at its tail
	hirs               slab[uint64]
	fifo               queue        // of hirs, the latest used at its head
	gone               slab[uint32] // where in the stack the ghost of a key is
	oldest             queue        // of gone
	lirs               int
	size               capacity
	hirRoom, stackRoom int // entries when size is as told
	staged             lirsStaged
}

type lirs struct {
	key uint64
	is  lirsKind
}

type lirsKind uint8

const (
	lir lirsKind = iota
	hir
	ghost
)

// lirsStaged is the new entry, in neither stack nor FIFO yet.
type lirsStaged struct {
	id       ID // 0 is none
	key      uint64
	returned bool // it was a ghost
}

var _ Evictor = (*LIRS)(nil)

func newLIRS(size capacity, hir, stack int) *LIRS {
	return &LIRS{size: size, hirRoom: hir, stackRoom: stack}
}

// Insert stages it: as LIR if it is a ghost or there is room, else as HIR.
func (l *LIRS) Insert(it Item, _ Tick) {
	if l.has(it.ID) {
		return
	}
	l.link()
	l.staged = lirsStaged{id: it.ID, key: it.Identity()}
	if slot, ok := l.gone.find(ID(l.staged.key)); ok {
		l.staged.returned = true
		l.forget(slot)
	}
}

// Hit moves id to the top of the stack. If it was there as HIR it becomes LIR.
func (l *LIRS) Hit(id ID, _ Tick) {
	if !l.has(id) {
		return
	}
	l.link()
	slot, stacked := l.stack.find(id)
	if !stacked {
		at, _ := l.hirs.find(id)
		l.hirs.toHead(&l.fifo, at)
		l.push(id, lirs{key: l.hirs.cells[at].val, is: hir})
		l.prune()
		return
	}
	l.stack.toHead(&l.order, slot)
	if l.unqueue(id) {
		l.stack.cells[slot].val.is = lir
		l.lirs++
	}
	l.settle()
}

// Victim names the oldest HIR.
func (l *LIRS) Victim() (ID, bool) {
	switch {
	case l.fifo.n > 0:
		return l.hirs.name(l.fifo.tail)
	case l.order.n > 0:
		return l.stack.name(l.order.tail)
	}
	return l.staged.id, l.staged.id != 0
}

// Remove drops id. An evicted HIR that is in the stack becomes a ghost there, and so does what expires in the stack.
func (l *LIRS) Remove(id ID, why Reason) {
	if !l.has(id) {
		return
	}
	slot, stacked := l.stack.find(id)
	switch {
	case id == l.staged.id:
		l.staged = lirsStaged{}
	case l.unqueue(id) && stacked && why == Evicted, stacked && why == Expired:
		l.haunt(slot)
		l.prune()
	case stacked:
		l.unstack(slot)
		l.prune()
	}
	if why == Evicted {
		l.size.evicted(l.len())
	}
}

func (l *LIRS) has(id ID) bool {
	if id == l.staged.id {
		return id != 0
	}
	if slot, ok := l.stack.find(id); ok {
		return l.stack.cells[slot].val.is != ghost
	}
	_, ok := l.hirs.find(id)
	return ok
}

func (l *LIRS) len() int {
	n := l.lirs + l.fifo.n
	if l.staged.id != 0 {
		n++
	}
	return n
}

// link puts the staged entry on top of the stack, and behind the other HIR if it is one.
func (l *LIRS) link() {
	s := l.staged
	if s.id == 0 {
		return
	}
	l.staged = lirsStaged{}
	if s.returned || l.lirs < l.lirRoom() {
		l.lirs++
		l.push(s.id, lirs{key: s.key, is: lir})
		l.settle()
		return
	}
	l.hirs.pushHead(&l.fifo, l.hirs.add(s.id, s.key))
	l.push(s.id, lirs{key: s.key, is: hir})
	l.prune()
}

// push puts id on top of the stack and forgets the oldest ghosts that are then too many.
func (l *LIRS) push(id ID, e lirs) {
	l.stack.pushHead(&l.order, l.stack.add(id, e))
	for l.order.n > l.size.of(l.stackRoom) && l.oldest.n > 0 {
		l.forget(l.oldest.tail)
	}
}

// settle makes the oldest LIR HIR while there are too many.
func (l *LIRS) settle() {
	l.prune()
	for l.lirs > l.lirRoom() {
		e := l.stack.cells[l.order.tail]
		l.unstack(l.order.tail)
		l.hirs.pushHead(&l.fifo, l.hirs.add(e.id, e.val.key))
		l.prune()
	}
}

// prune drops what is below the oldest LIR: it could not displace one any more. Without a LIR nothing is in the stack.
func (l *LIRS) prune() {
	for slot := l.order.tail; slot != 0; slot = l.order.tail {
		switch e := l.stack.cells[slot].val; e.is {
		case lir:
			return
		case hir:
			l.unstack(slot)
		case ghost:
			at, _ := l.gone.find(ID(e.key))
			l.forget(at)
		}
	}
}

// unstack takes a slot out of the stack.
func (l *LIRS) unstack(slot uint32) {
	if l.stack.cells[slot].val.is == lir {
		l.lirs--
	}
	l.stack.unlink(&l.order, slot)
	l.stack.free(slot)
}

// unqueue takes id out of the FIFO and reports whether it was there.
func (l *LIRS) unqueue(id ID) bool {
	at, ok := l.hirs.find(id)
	if ok {
		l.hirs.unlink(&l.fifo, at)
		l.hirs.free(at)
	}
	return ok
}

// haunt makes an entry of the stack a ghost, the only one of its key.
func (l *LIRS) haunt(slot uint32) {
	e := &l.stack.cells[slot].val
	if e.is == lir {
		l.lirs--
	}
	e.is = ghost
	if at, ok := l.gone.find(ID(e.key)); ok {
		l.forget(at)
	}
	l.gone.pushHead(&l.oldest, l.gone.add(ID(e.key), slot))
}

// forget drops a ghost, by its slot in gone.
func (l *LIRS) forget(at uint32) {
	slot := l.gone.cells[at].val
	l.stack.unlink(&l.order, slot)
	l.stack.free(slot)
	l.gone.unlink(&l.oldest, at)
	l.gone.free(at)
}

// lirRoom is the most LIR.
func (l *LIRS) lirRoom() int { return max(0, l.size.n-max(1, l.size.of(l.hirRoom))) }
