package container

// Keyed holds the entries of a policy whose keys stand still between uses: all in a heap but the newest, which is held
// apart. Values of up to 8 bytes make some 95 bytes per entry.
type Keyed[K ~uint64, T any] struct {
	Slots Slots[K, T] // in no queue
	Heap  Heap

	staged uint32
}

// Stage holds a new entry apart. What was there before must have been taken.
func (k *Keyed[K, T]) Stage(name K, val T) { k.staged = k.Slots.Add(name, val) }

// Take returns the entry that was held apart, for the heap; 0 is none.
func (k *Keyed[K, T]) Take() uint32 {
	slot := k.staged
	k.staged = 0
	return slot
}

// Least names the entry of the least key, the one held apart only when it is alone.
func (k *Keyed[K, T]) Least() (name K, ok bool) {
	if k.Heap.Len() == 0 {
		return k.Slots.Name(k.staged)
	}
	return k.Slots.Name(k.Heap.Min())
}

// Drop removes an entry wherever it is.
func (k *Keyed[K, T]) Drop(slot uint32) {
	if slot == k.staged {
		k.staged = 0
	}
	k.Heap.Remove(slot)
	k.Slots.Free(slot)
}
