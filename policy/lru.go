package policy

var lruSpec = spec{
	name: "lru", says: "least recently used",
	make: func(args) Evictor { return NewLRU() },
}

// LRU evicts the entry that was used least recently. It has no parameter.
//
// Every call is O(1). Memory per resident: some 50 bytes.
type LRU struct {
	slab  slab[struct{}]
	queue queue // the latest used at its head
}

var _ Evictor = (*LRU)(nil)

// NewLRU starts empty.
func NewLRU() *LRU { return &LRU{} }

// Insert puts it at the newest end.
func (l *LRU) Insert(it Item, _ Tick) {
	if _, ok := l.slab.find(it.ID); !ok {
		l.slab.pushHead(&l.queue, l.slab.add(it.ID, struct{}{}))
	}
}

// Hit moves id to the newest end.
func (l *LRU) Hit(id ID, _ Tick) {
	if slot, ok := l.slab.find(id); ok {
		l.slab.toHead(&l.queue, slot)
	}
}

// Victim names the oldest entry.
func (l *LRU) Victim() (ID, bool) { return l.slab.name(l.queue.tail) }

// Remove drops id.
func (l *LRU) Remove(id ID, _ Reason) {
	if slot, ok := l.slab.find(id); ok {
		l.slab.unlink(&l.queue, slot)
		l.slab.free(slot)
	}
}
