package policy

var lfuSpec = spec{
	name: "lfu", says: "least frequently used since its insertion",
	make: func(args) Evictor { return &LFU{} },
}

// LFU evicts the entry with the fewest uses, its insertion the first of them; ties go to what came to that number first.
// The number is lost with the entry. It has no parameter. The zero value is ready.
//
// Every call is O(log n), Victim O(1). Memory per resident: some 85 bytes.
type LFU struct {
	keyed keyed[struct{}] // the key is the number of uses
}

var _ Evictor = (*LFU)(nil)

// Insert holds it apart; the one before it joins the others.
func (l *LFU) Insert(it Item, _ Tick) {
	if _, ok := l.keyed.slab.find(it.ID); ok {
		return
	}
	l.link()
	l.keyed.stage(it.ID, struct{}{})
}

// Hit counts a use.
func (l *LFU) Hit(id ID, _ Tick) {
	if slot, ok := l.keyed.slab.find(id); ok {
		l.link()
		l.keyed.heap.set(slot, l.keyed.heap.key(slot)+1, 0)
	}
}

// Victim names the entry with the fewest uses.
func (l *LFU) Victim() (ID, bool) { return l.keyed.least() }

// Remove drops id.
func (l *LFU) Remove(id ID, _ Reason) {
	if slot, ok := l.keyed.slab.find(id); ok {
		l.keyed.drop(slot)
	}
}

func (l *LFU) link() {
	if slot := l.keyed.take(); slot != 0 {
		l.keyed.heap.set(slot, 1, 0)
	}
}
