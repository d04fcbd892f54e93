package container

import "math/bits"

// Table is a hash table with numbers as keys: open addressing with linear probing, 16 bytes a slot for values of 8 bytes or
// fewer. It is smaller and faster than a map, and it has no order that a policy could come to depend on. The key 0 is never
// in it. Keys are the caller's own numbers or digests, so that no client can choose them to collide. The zero value is
// empty.
type Table[K ~uint64, V any] struct {
	slots []tableSlot[K, V] // a power of two long, or nil
	n     int
	shift uint8 // 64 less the bits of a place in slots
}

type tableSlot[K ~uint64, V any] struct {
	key K // 0: unused
	val V
}

const minTable = 16

// Len is the number of keys.
func (t *Table[K, V]) Len() int { return t.n }

// Get is the value of key.
func (t *Table[K, V]) Get(key K) (v V, ok bool) {
	if p := t.Find(key); p != nil {
		return *p, true
	}
	return v, false
}

// Has reports whether key is in the table.
func (t *Table[K, V]) Has(key K) bool { return t.Find(key) != nil }

// Find points to the value of key, nil if there is none. It is valid until the next Put, Add or Delete.
func (t *Table[K, V]) Find(key K) *V {
	if t.n == 0 || key == 0 {
		return nil
	}
	mask := len(t.slots) - 1
	for i := t.home(key); ; i = (i + 1) & mask {
		s := &t.slots[i]
		if s.key == key {
			return &s.val
		}
		if s.key == 0 {
			return nil
		}
	}
}

// Put sets the value of key, which is not 0.
func (t *Table[K, V]) Put(key K, v V) {
	if p := t.Find(key); p != nil {
		*p = v
		return
	}
	t.Add(key, v)
}

// Add is Put for a key, not 0, that is not in the table.
func (t *Table[K, V]) Add(key K, v V) {
	if 8*(t.n+1) > 7*len(t.slots) {
		t.grow()
	}
	t.n++
	t.place(key, v)
}

// Delete drops key and reports whether it was there. What was pushed past its slot moves back, so that no tombstones remain.
func (t *Table[K, V]) Delete(key K) bool {
	if t.n == 0 || key == 0 {
		return false
	}
	mask := len(t.slots) - 1
	i := t.home(key)
	for ; t.slots[i].key != key; i = (i + 1) & mask {
		if t.slots[i].key == 0 {
			return false
		}
	}
	t.n--
	hole := i
	for i = (hole + 1) & mask; t.slots[i].key != 0; i = (i + 1) & mask {
		if (i-t.home(t.slots[i].key))&mask >= (i-hole)&mask {
			t.slots[hole] = t.slots[i]
			hole = i
		}
	}
	t.slots[hole] = tableSlot[K, V]{}
	return true
}

// DeleteFunc calls drop with every key and value, in no order, and drops those for which it returns true. It may change the
// value.
func (t *Table[K, V]) DeleteFunc(drop func(K, *V) bool) {
	var gone []K
	for i := range t.slots {
		if s := &t.slots[i]; s.key != 0 && drop(s.key, &s.val) {
			gone = append(gone, s.key)
		}
	}
	for _, key := range gone {
		t.Delete(key)
	}
}

// Bytes is the memory of a table of numbers.
func (t *Table[K, V]) Bytes() int64 {
	const slotBytes = 16
	return slotBytes * int64(len(t.slots))
}

// home is the slot where a search for key begins (Fibonacci hashing).
func (t *Table[K, V]) home(key K) int {
	return int(uint64(key) * 0x9E3779B97F4A7C15 >> (t.shift & 63))
}

func (t *Table[K, V]) place(key K, v V) {
	mask := len(t.slots) - 1
	i := t.home(key)
	for t.slots[i].key != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = tableSlot[K, V]{key, v}
}

func (t *Table[K, V]) grow() {
	old := t.slots
	t.slots = make([]tableSlot[K, V], max(minTable, 2*len(old)))
	t.shift = uint8(bits.LeadingZeros64(uint64(len(t.slots))) + 1)
	for _, s := range old {
		if s.key != 0 {
			t.place(s.key, s.val)
		}
	}
}
