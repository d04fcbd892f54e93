package classic

import (
	"reprise/internal/container"
	"reprise/policy"
)

// LIRSSpec describes lirs and its parameters.
var LIRSSpec = policy.Spec{
	Name: "lirs", Says: "keeps what returns after few other entries were used, however long ago it came",
	Params: []policy.Param{
		{Name: "hir", Says: "entries for what returns late or not at all, at least 1", Default: "0.01C", Max: 1e12},
		{Name: "stack", Says: "most entries in the stack, ghosts among them", Default: "2C", Max: 1e12},
	},
	New: func(a policy.Args) policy.Evictor {
		return newLIRS(policy.CapacityOf(a), a.Whole("hir"), a.Whole("stack"))
	},
}

// lirs divides the entries by their inter-reference recency, how many others were used between their last two uses. The
// low ones (LIR) stay; the others (HIR), 1 % of the entries, are in a FIFO from which the victims come. The stack holds
// all LIR and what was used later than the oldest of them, evicted HIR included. What is used while it is in the stack
// has returned sooner than the oldest LIR, and takes its place; that one becomes the youngest HIR.
//
// The stack has 2 C entries at most: beyond them the oldest ghost is dropped. New entries are LIR until there are enough.
// With a limit in bytes C is how many entries fitted at the latest eviction.
//
// Every call is O(1) on average: a HIR that is dropped from the stack's end was put there by a request. Memory per
// resident: some 70 bytes, and 140 for each ghost. Source: Jiang and Zhang, LIRS: an efficient low inter-reference
// recency set replacement policy, SIGMETRICS 2002.
type lirs struct {
	stack              container.Slots[policy.ID, lirsEntry] // LIR, HIR and ghosts, each under the ID that it has or had
	order              container.Queue                       // of the stack, the latest used at its head; a LIR at its tail
	hirs               container.Slots[policy.ID, uint64]
	fifo               container.Queue                    // of hirs, the latest used at its head
	gone               container.Slots[policy.ID, uint32] // where in the stack the ghost of a key is
	oldest             container.Queue                    // of gone
	lirs               int
	size               policy.Capacity
	hirRoom, stackRoom int // entries at the given capacity
	staged             lirsStaged
}

type lirsEntry struct {
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
	id       policy.ID // 0 is none
	key      uint64
	returned bool // it was a ghost
}

var _ policy.Evictor = (*lirs)(nil)

func newLIRS(size policy.Capacity, hir, stack int) *lirs {
	return &lirs{size: size, hirRoom: hir, stackRoom: stack}
}

// Insert stages it: as LIR if it is a ghost or there is room, else as HIR.
func (l *lirs) Insert(it policy.Item, _ policy.Tick) {
	if l.has(it.ID) {
		return
	}
	l.link()
	l.staged = lirsStaged{id: it.ID, key: it.Identity()}
	if slot, ok := l.gone.Find(policy.ID(l.staged.key)); ok {
		l.staged.returned = true
		l.forget(slot)
	}
}

// Hit moves id to the top of the stack. If it was there as HIR it becomes LIR.
func (l *lirs) Hit(id policy.ID, _ policy.Tick) {
	if !l.has(id) {
		return
	}
	l.link()
	slot, stacked := l.stack.Find(id)
	if !stacked {
		at, _ := l.hirs.Find(id)
		l.hirs.ToHead(&l.fifo, at)
		l.push(id, lirsEntry{key: l.hirs.Cells[at].Val, is: hir})
		l.prune()
		return
	}
	l.stack.ToHead(&l.order, slot)
	if l.unqueue(id) {
		l.stack.Cells[slot].Val.is = lir
		l.lirs++
	}
	l.settle()
}

// Victim is the oldest HIR.
func (l *lirs) Victim() (policy.ID, bool) {
	switch {
	case l.fifo.Len > 0:
		return l.hirs.Name(l.fifo.Tail)
	case l.order.Len > 0:
		return l.stack.Name(l.order.Tail)
	}
	return l.staged.id, l.staged.id != 0
}

// Remove drops id. An evicted HIR that is in the stack becomes a ghost there, and so does what expires in the stack.
func (l *lirs) Remove(id policy.ID, why policy.Reason) {
	if !l.has(id) {
		return
	}
	slot, stacked := l.stack.Find(id)
	switch {
	case id == l.staged.id:
		l.staged = lirsStaged{}
	case l.unqueue(id) && stacked && why == policy.Evicted, stacked && why == policy.Expired:
		l.makeGhost(slot)
		l.prune()
	case stacked:
		l.unstack(slot)
		l.prune()
	}
	if why == policy.Evicted {
		l.size.Evicted(l.len())
	}
}

func (l *lirs) has(id policy.ID) bool {
	if id == l.staged.id {
		return id != 0
	}
	if slot, ok := l.stack.Find(id); ok {
		return l.stack.Cells[slot].Val.is != ghost
	}
	_, ok := l.hirs.Find(id)
	return ok
}

func (l *lirs) len() int {
	n := l.lirs + l.fifo.Len
	if l.staged.id != 0 {
		n++
	}
	return n
}

// link puts the staged entry on top of the stack, and behind the other HIR if it is one.
func (l *lirs) link() {
	s := l.staged
	if s.id == 0 {
		return
	}
	l.staged = lirsStaged{}
	if s.returned || l.lirs < l.lirRoom() {
		l.lirs++
		l.push(s.id, lirsEntry{key: s.key, is: lir})
		l.settle()
		return
	}
	l.hirs.PushHead(&l.fifo, l.hirs.Add(s.id, s.key))
	l.push(s.id, lirsEntry{key: s.key, is: hir})
	l.prune()
}

// push puts id on top of the stack and drops the oldest ghosts beyond the limit.
func (l *lirs) push(id policy.ID, e lirsEntry) {
	l.stack.PushHead(&l.order, l.stack.Add(id, e))
	for l.order.Len > l.size.Of(l.stackRoom) && l.oldest.Len > 0 {
		l.forget(l.oldest.Tail)
	}
}

// settle turns the oldest LIR into HIR while there are too many.
func (l *lirs) settle() {
	l.prune()
	for l.lirs > l.lirRoom() {
		e := l.stack.Cells[l.order.Tail]
		l.unstack(l.order.Tail)
		l.hirs.PushHead(&l.fifo, l.hirs.Add(e.Name, e.Val.key))
		l.prune()
	}
}

// prune drops what is below the oldest LIR: it could not displace one any more. Without a LIR nothing is in the stack.
func (l *lirs) prune() {
	for slot := l.order.Tail; slot != 0; slot = l.order.Tail {
		switch e := l.stack.Cells[slot].Val; e.is {
		case lir:
			return
		case hir:
			l.unstack(slot)
		case ghost:
			at, _ := l.gone.Find(policy.ID(e.key))
			l.forget(at)
		}
	}
}

// unstack removes a slot from the stack.
func (l *lirs) unstack(slot uint32) {
	if l.stack.Cells[slot].Val.is == lir {
		l.lirs--
	}
	l.stack.Unlink(&l.order, slot)
	l.stack.Free(slot)
}

// unqueue removes id from the FIFO and reports whether it was there.
func (l *lirs) unqueue(id policy.ID) bool {
	at, ok := l.hirs.Find(id)
	if ok {
		l.hirs.Unlink(&l.fifo, at)
		l.hirs.Free(at)
	}
	return ok
}

// makeGhost makes an entry of the stack a ghost, the only one of its key.
func (l *lirs) makeGhost(slot uint32) {
	e := &l.stack.Cells[slot].Val
	if e.is == lir {
		l.lirs--
	}
	e.is = ghost
	if at, ok := l.gone.Find(policy.ID(e.key)); ok {
		l.forget(at)
	}
	l.gone.PushHead(&l.oldest, l.gone.Add(policy.ID(e.key), slot))
}

// forget drops a ghost, by its slot in gone.
func (l *lirs) forget(at uint32) {
	slot := l.gone.Cells[at].Val
	l.stack.Unlink(&l.order, slot)
	l.stack.Free(slot)
	l.gone.Unlink(&l.oldest, at)
	l.gone.Free(at)
}

// lirRoom is the most LIR.
func (l *lirs) lirRoom() int { return max(0, l.size.N-max(1, l.size.Of(l.hirRoom))) }
