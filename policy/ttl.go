package policy

var ttlSpec = spec{
	name: "ttl", says: "each entry expires a fixed time after its insertion; overflow as FIFO",
	params: []Param{ttlParam},
	make:   func(a args) Evictor { return &TTL{life: int64(a.num("ttl"))} },
}

var ttlParam = Param{Name: "ttl", Says: "requests that an entry lives", Default: "2C", Min: 1, Max: 1e15}

// TTL gives every entry a life of ttl requests, from its insertion on: the ttl-th after it no longer gets an answer, and
// whoever finds the entry then removes it. Overflow evicts the oldest, and expired ones are the oldest of all. Without its
// ttl a TTL policy says nothing: where that is longer than most entries stay it is FIFO.
//
// Every call is O(1). Memory per resident: some 60 bytes.
type TTL struct {
	slab  slab[int64] // the request when the life began
	queue queue       // the latest begun at its head
	life  int64
}

var (
	_ Evictor  = (*TTL)(nil)
	_ Expirer  = (*TTL)(nil)
	_ Replacer = (*TTL)(nil)
)

// Insert begins a life.
func (l *TTL) Insert(it Item, at Tick) {
	if _, ok := l.slab.find(it.ID); !ok {
		l.slab.pushHead(&l.queue, l.slab.add(it.ID, at.Seq))
	}
}

// Hit changes nothing.
func (l *TTL) Hit(ID, Tick) {}

// Replace begins the life of it.ID again.
func (l *TTL) Replace(it Item, at Tick) {
	if slot, ok := l.slab.find(it.ID); ok {
		l.slab.cells[slot].val = at.Seq
		l.slab.toHead(&l.queue, slot)
	}
}

// Victim names the oldest entry.
func (l *TTL) Victim() (ID, bool) { return l.slab.name(l.queue.tail) }

// Remove drops id.
func (l *TTL) Remove(id ID, _ Reason) {
	if slot, ok := l.slab.find(id); ok {
		l.slab.unlink(&l.queue, slot)
		l.slab.free(slot)
	}
}

// Expired reports whether the life of id is over.
func (l *TTL) Expired(id ID, at Tick) bool {
	slot, ok := l.slab.find(id)
	return ok && at.Seq-l.slab.cells[slot].val >= l.life
}
