package policy

// keyed holds the residents of a policy whose keys stand still between uses: all in a heap but the newest, held apart.
// Values of up to 8 bytes make some 95 bytes per resident.
type keyed[T any] struct {
	slab   slab[T] // its links are unused
	heap   minHeap
	staged uint32
}

// stage holds id apart. What was there before must have been taken.
func (k *keyed[T]) stage(id ID, val T) { k.staged = k.slab.add(id, val) }

// take gives the entry that was held apart, for the heap; 0 is none.
func (k *keyed[T]) take() uint32 {
	slot := k.staged
	k.staged = 0
	return slot
}

// least names the entry of the least key, the one held apart only when it is alone.
func (k *keyed[T]) least() (ID, bool) {
	if k.heap.len() == 0 {
		return k.slab.name(k.staged)
	}
	return k.slab.name(k.heap.min())
}

// drop forgets an entry wherever it is.
func (k *keyed[T]) drop(slot uint32) {
	if slot == k.staged {
		k.staged = 0
	}
	k.heap.remove(slot)
	k.slab.free(slot)
}
