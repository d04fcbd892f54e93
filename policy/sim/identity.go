package sim

import "math/bits"

// identity is what two requests share when one answer serves both.
type identity struct{ id, scope uint64 }

// identities numbers what it is shown from 0, in the order of first appearance: a hash table with linear probing that
// takes some 25 bytes for each. A map takes twice that and the time of a cheap policy.
type identities struct {
	slots []uint32 // number + 1; 0: unused. A power of two long
	all   []identity
}

func (t *identities) home(k identity) int {
	h := k.id*0x9E3779B97F4A7C15 ^ bits.RotateLeft64(k.scope*0xD6E8FEB86659FD93, 32)
	return int((h ^ h>>29) * 0x94D049BB133111EB >> (bits.LeadingZeros64(uint64(len(t.slots))) + 1))
}

// find is the number of k, if it has one.
func (t *identities) find(k identity) (number uint32, ok bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	mask := len(t.slots) - 1
	for i := t.home(k); t.slots[i] != 0; i = (i + 1) & mask {
		if n := t.slots[i] - 1; t.all[n] == k {
			return n, true
		}
	}
	return 0, false
}

// number gives k the next number unless it has one.
func (t *identities) number(k identity) uint32 {
	if n, ok := t.find(k); ok {
		return n
	}
	if 4*(len(t.all)+1) > 3*len(t.slots) {
		t.grow()
	}
	t.all = append(t.all, k)
	t.place(uint32(len(t.all)))
	return uint32(len(t.all) - 1)
}

// place enters what is n-th, counted from 1.
func (t *identities) place(n uint32) {
	mask := len(t.slots) - 1
	i := t.home(t.all[n-1])
	for t.slots[i] != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = n
}

func (t *identities) grow() {
	t.slots = make([]uint32, max(1024, 2*len(t.slots)))
	for n := range t.all {
		t.place(uint32(n + 1))
	}
}
