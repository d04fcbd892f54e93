package container

import "iter"

// History keeps a value for entries that have left, by identity, the latest first. The zero value has no room.
type History[T any] struct {
	Room int // identities

	slots Slots[uint64, T]
	queue Queue
}

// Len is the number of identities.
func (h *History[T]) Len() int { return h.queue.Len }

// Add adds key with v as the latest, and returns the oldest if it exceeds the room.
func (h *History[T]) Add(key uint64, v T) (oldest T, dropped bool) {
	h.Take(key)
	if h.Room <= 0 {
		return v, true
	}
	h.slots.PushHead(&h.queue, h.slots.Add(key, v))
	if h.queue.Len > h.Room {
		return h.drop(h.queue.Tail), true
	}
	return oldest, false
}

// Take drops key, and returns its value.
func (h *History[T]) Take(key uint64) (v T, ok bool) {
	slot, ok := h.slots.Find(key)
	if !ok {
		return v, false
	}
	return h.drop(slot), true
}

// Trim drops the oldest until n are left.
func (h *History[T]) Trim(n int) {
	for h.queue.Len > max(n, 0) {
		h.drop(h.queue.Tail)
	}
}

// All yields keys and values, the latest first.
func (h *History[T]) All() iter.Seq2[uint64, T] {
	return func(yield func(uint64, T) bool) {
		for slot := h.queue.Head; slot != 0; slot = h.slots.Cells[slot].Next {
			if !yield(h.slots.Cells[slot].Name, h.slots.Cells[slot].Val) {
				return
			}
		}
	}
}

func (h *History[T]) drop(slot uint32) T {
	v := h.slots.Cells[slot].Val
	h.slots.Unlink(&h.queue, slot)
	h.slots.Free(slot)
	return v
}

// Ghosts is the identities of evicted entries, the latest first: a History without values.
type Ghosts struct{ History[struct{}] }

// NewGhosts has that much room.
func NewGhosts(room int) Ghosts { return Ghosts{History[struct{}]{Room: room}} }

// Add adds key as the latest and drops the oldest beyond the room.
func (g *Ghosts) Add(key uint64) { g.History.Add(key, struct{}{}) }

// Take drops key and reports whether it was there.
func (g *Ghosts) Take(key uint64) bool {
	_, ok := g.History.Take(key)
	return ok
}
