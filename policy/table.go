package policy

import "math/bits"

// table is a hash table of numbers: open addressing with linear probing, 16 bytes a slot for values of 8 bytes or fewer.
// It is smaller and faster than a map, and it has no order that anybody could come to depend on. The key 0 is never in it.
// Keys are the caller's own numbers or digests, so that nobody outside can choose them to collide.
type table[V any] struct {
	slots []tableSlot[V] // a power of two long, or nil
	n     int
	shift uint8 // 64 less the bits of a place in slots
}

type tableSlot[V any] struct {
	key uint64 // 0: unused
	val V
}

const minTable = 16

// home is the slot where a search for key begins (Fibonacci hashing).
func (t *table[V]) home(key uint64) int {
	return int(key * 0x9E3779B97F4A7C15 >> (t.shift & 63))
}

func (t *table[V]) get(key uint64) (v V, ok bool) {
	if s := t.find(key); s != nil {
		return s.val, true
	}
	return v, false
}

// find returns the slot of key, nil if there is none. It stays valid until the next put or del.
func (t *table[V]) find(key uint64) *tableSlot[V] {
	if t.n == 0 || key == 0 {
		return nil
	}
	mask := len(t.slots) - 1
	for i := t.home(key); ; i = (i + 1) & mask {
		s := &t.slots[i]
		if s.key == key {
			return s
		}
		if s.key == 0 {
			return nil
		}
	}
}

// put sets the value of key, which is not 0.
func (t *table[V]) put(key uint64, v V) {
	if s := t.find(key); s != nil {
		s.val = v
		return
	}
	t.add(key, v)
}

// add is put for a key, not 0, that is not in the table.
func (t *table[V]) add(key uint64, v V) {
	if 8*(t.n+1) > 7*len(t.slots) {
		t.grow()
	}
	t.n++
	t.place(key, v)
}

func (t *table[V]) place(key uint64, v V) {
	mask := len(t.slots) - 1
	i := t.home(key)
	for t.slots[i].key != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = tableSlot[V]{key, v}
}

func (t *table[V]) grow() {
	old := t.slots
	t.slots = make([]tableSlot[V], max(minTable, 2*len(old)))
	t.shift = uint8(bits.LeadingZeros64(uint64(len(t.slots))) + 1)
	for _, s := range old {
		if s.key != 0 {
			t.place(s.key, s.val)
		}
	}
}

// del forgets key. What was pushed past its slot moves back, so that no tombstones remain.
func (t *table[V]) del(key uint64) bool {
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
	t.slots[hole] = tableSlot[V]{}
	return true
}
