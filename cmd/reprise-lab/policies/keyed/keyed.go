// Package keyed has the heaps of the policies whose keys do not change between the uses of an entry.
package keyed

import "reprise/internal/container"

// Entries holds the entries of a policy whose keys do not change between uses: all in a heap except the newest, which is
// staged. Values of up to 8 bytes make some 55 bytes per entry.
type Entries[K ~uint64, T any] struct {
	Slots container.Slots[K, T] // in no queue
	Heap  Heap

	staged uint32
	pins   map[uint32]uint32 // how often, of the slots that are pinned
}

// Stage stages a new entry. The one before must have been taken.
func (k *Entries[K, T]) Stage(name K, val T) { k.staged = k.Slots.Add(name, val) }

// Take returns the staged entry, for the heap; 0 is none.
func (k *Entries[K, T]) Take() uint32 {
	slot := k.staged
	k.staged = 0
	return slot
}

// Pin keeps an entry, which is not staged, from being Least until as many calls of Unpin.
func (k *Entries[K, T]) Pin(slot uint32) {
	if k.pins == nil {
		k.pins = map[uint32]uint32{}
	}
	k.pins[slot]++
}

// Unpin ends a Pin. If it was the last one the caller puts the entry into the heap, where it may be or not.
func (k *Entries[K, T]) Unpin(slot uint32) (last bool) {
	n := k.pins[slot]
	if n > 1 {
		k.pins[slot] = n - 1
		return false
	}
	delete(k.pins, slot)
	return n == 1
}

// Least is the entry of the least key that is not pinned, the staged one only when it is alone. Pinned ones with lesser keys leave the heap.
func (k *Entries[K, T]) Least() (name K, ok bool) {
	for k.Heap.Len() > 0 {
		slot := k.Heap.Min()
		if len(k.pins) == 0 || k.pins[slot] == 0 {
			return k.Slots.Name(slot)
		}
		k.Heap.Remove(slot)
	}
	return k.Slots.Name(k.staged)
}

// Drop removes an entry wherever it is.
func (k *Entries[K, T]) Drop(slot uint32) {
	delete(k.pins, slot)
	if slot == k.staged {
		k.staged = 0
	}
	k.Heap.Remove(slot)
	k.Slots.Free(slot)
}
