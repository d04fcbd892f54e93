package policy

var fifoSpec = spec{
	name: "fifo", says: "first in, first out",
	make: func(args) Evictor { return &FIFO{} },
}

// FIFO evicts the oldest entry; a hit changes nothing. It has no parameter. The zero value is ready.
//
// Every call is O(1). Memory per resident: some 50 bytes.
type FIFO struct {
	slab  slab[struct{}]
	queue queue // the youngest at its head
}

var _ Evictor = (*FIFO)(nil)

// Insert puts it at the young end.
func (f *FIFO) Insert(it Item, _ Tick) {
	if _, ok := f.slab.find(it.ID); !ok {
		f.slab.pushHead(&f.queue, f.slab.add(it.ID, struct{}{}))
	}
}

// Hit changes nothing.
func (f *FIFO) Hit(ID, Tick) {}

// Victim names the oldest entry.
func (f *FIFO) Victim() (ID, bool) { return f.slab.name(f.queue.tail) }

// Remove drops id.
func (f *FIFO) Remove(id ID, _ Reason) {
	if slot, ok := f.slab.find(id); ok {
		f.slab.unlink(&f.queue, slot)
		f.slab.free(slot)
	}
}
