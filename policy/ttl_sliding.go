package policy

var ttlSlidingSpec = spec{
	name: "ttl-sliding", says: "each entry expires a fixed time after its last use; overflow as LRU",
	params: []Param{ttlParam},
	make:   func(a args) Evictor { return &TTLSliding{TTL{life: int64(a.num("ttl"))}} },
}

// TTLSliding is TTL with lives that begin again at each use. Overflow evicts the least recently used, and where ttl is
// longer than most entries stay it is LRU.
type TTLSliding struct{ TTL }

var (
	_ Evictor = (*TTLSliding)(nil)
	_ Expirer = (*TTLSliding)(nil)
)

// Hit begins the life of id again.
func (l *TTLSliding) Hit(id ID, at Tick) {
	if slot, ok := l.slab.find(id); ok {
		l.slab.cells[slot].val = at.Seq
		l.slab.toHead(&l.queue, slot)
	}
}
