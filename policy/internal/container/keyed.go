package container

// Keyed holds the entries of a policy whose keys do not change between uses: all in a heap except the newest, which is
// staged. Values of up to 8 bytes make some 55 bytes per entry.
type Keyed[K ~uint64, T any] struct {
	Slots Slots[K, T] // in no queue
	Heap  KeyHeap

	staged uint32
}

// Stage stages a new entry. The one before must have been taken.
func (k *Keyed[K, T]) Stage(name K, val T) { k.staged = k.Slots.Add(name, val) }

// Take returns the staged entry, for the heap; 0 is none.
func (k *Keyed[K, T]) Take() uint32 {
	slot := k.staged
	k.staged = 0
	return slot
}

// Least is the entry of the least key, the staged one only when it is alone.
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
