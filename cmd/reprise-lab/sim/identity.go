package sim

import "math/bits"

// identity is equal for two requests with the same answer.
type identity struct {
	id    uint64
	scope uint32 // number of the scope
}

// identities numbers identities from 0, in the order of their first appearance: a hash table with linear probing, some 30
// bytes for each, that finds most with one memory access.
type identities struct {
	slots  []numbered // a power of two long
	n      int
	shift  uint8 // 64 less the bits of a place in slots
	scopes map[uint64]uint32
	last   struct { // the last scope: most traces have one, or runs of one
		scope  uint64
		number uint32
	}
}

// numbered is an identity and its number, flat because a struct within would be padded.
type numbered struct {
	id     uint64
	scope  uint32
	number uint32 // + 1; 0: unused
}

func (s *numbered) identity() identity { return identity{s.id, s.scope} }

// of is the identity of id in scope. A trace has few scopes.
func (t *identities) of(id, scope uint64) identity {
	if scope != t.last.scope {
		n, ok := t.scopes[scope]
		if !ok && scope != 0 {
			if t.scopes == nil {
				t.scopes = map[uint64]uint32{}
			}
			n = uint32(len(t.scopes) + 1)
			t.scopes[scope] = n
		}
		t.last.scope, t.last.number = scope, n
	}
	return identity{id, t.last.number}
}

func (t *identities) home(k identity) int {
	h := k.id*0x9E3779B97F4A7C15 ^ uint64(k.scope)*0xD6E8FEB86659FD93
	return int((h ^ h>>29) * 0x94D049BB133111EB >> (t.shift & 63))
}

// find is the number of k, if it has one.
func (t *identities) find(k identity) (number uint32, ok bool) {
	if t.n == 0 {
		return 0, false
	}
	mask := len(t.slots) - 1
	for i := t.home(k); ; i = (i + 1) & mask {
		s := &t.slots[i]
		if s.identity() == k && s.number != 0 {
			return s.number - 1, true
		}
		if s.number == 0 {
			return 0, false
		}
	}
}

// number is the number of k; it gets the next one if it has none.
func (t *identities) number(k identity) uint32 {
	if n, ok := t.find(k); ok {
		return n
	}
	if 4*(t.n+1) > 3*len(t.slots) {
		t.grow()
	}
	t.n++
	t.place(numbered{k.id, k.scope, uint32(t.n)})
	return uint32(t.n - 1)
}

func (t *identities) place(s numbered) {
	mask := len(t.slots) - 1
	i := t.home(s.identity())
	for t.slots[i].number != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = s
}

func (t *identities) grow() {
	old := t.slots
	t.slots = make([]numbered, max(1024, 2*len(old)))
	t.shift = uint8(bits.LeadingZeros64(uint64(len(t.slots))) + 1)
	for _, s := range old {
		if s.number != 0 {
			t.place(s)
		}
	}
}
