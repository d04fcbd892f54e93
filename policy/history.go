package policy

// history remembers something of what was evicted, by Item.Identity, the latest first: ghosts with a value. The zero value
// has no room.
type history[T any] struct {
	slab  slab[T] // under the identity in place of an ID
	queue queue
	room  int
}

// add remembers v of key as the latest. What falls out beyond the room is returned.
func (h *history[T]) add(key uint64, v T) (oldest T, dropped bool) {
	h.take(key)
	if h.room <= 0 {
		return v, true
	}
	h.slab.pushHead(&h.queue, h.slab.add(ID(key), v))
	if h.queue.n > h.room {
		return h.drop(h.queue.tail), true
	}
	return oldest, false
}

// take forgets key and returns what was remembered.
func (h *history[T]) take(key uint64) (v T, ok bool) {
	slot, ok := h.slab.find(ID(key))
	if !ok {
		return v, false
	}
	return h.drop(slot), true
}

func (h *history[T]) drop(slot uint32) T {
	v := h.slab.cells[slot].val
	h.slab.unlink(&h.queue, slot)
	h.slab.free(slot)
	return v
}
