package rac

import "math/bits"

// slots numbers keys from 1, the latest free number first in use again, for state that lies in slices by number. It is the
// smallest index of the package, because RAC needs two: the table holds numbers only, and a look-up compares with the key
// kept by number. 16 to 24 bytes per key. A key of 0 takes a number and is in no table.
type slots struct {
	table []uint32 // a power of two long and at most half full; 0 is unused
	keys  []uint64 // by number
	spare uint32   // first unused number, chained by keys
	n     int      // keys in the table
}

func (s *slots) find(key uint64) (slot uint32, ok bool) {
	if s.n == 0 || key == 0 {
		return 0, false
	}
	slot = s.table[s.place(key)]
	return slot, slot != 0
}

// add numbers a key that has no number yet. What lies by number grows by one when the number is its length.
func (s *slots) add(key uint64) uint32 {
	slot := s.take()
	s.keys[slot] = key
	if key == 0 {
		return slot
	}
	if s.n++; 2*s.n > len(s.table) {
		s.grow()
	}
	s.table[s.place(key)] = slot
	return slot
}

// free gives a number back.
func (s *slots) free(slot uint32) {
	if key := s.keys[slot]; key != 0 {
		s.del(key)
	}
	s.keys[slot], s.spare = uint64(s.spare), slot
}

func (s *slots) take() uint32 {
	if slot := s.spare; slot != 0 {
		s.spare = uint32(s.keys[slot])
		return slot
	}
	if len(s.keys) == 0 {
		s.keys = make([]uint64, 1)
	}
	s.keys = append(s.keys, 0)
	return uint32(len(s.keys) - 1)
}

// home is where a search for key begins (Fibonacci hashing).
func (s *slots) home(key uint64) int {
	return int(key * 0x9E3779B97F4A7C15 >> (bits.LeadingZeros64(uint64(len(s.table))) + 1))
}

// place is where key lies in the table, or where it would.
func (s *slots) place(key uint64) int {
	i := s.home(key)
	for s.table[i] != 0 && s.keys[s.table[i]] != key {
		i = (i + 1) & (len(s.table) - 1)
	}
	return i
}

func (s *slots) grow() {
	old := s.table
	s.table = make([]uint32, max(16, 2*len(old)))
	for _, slot := range old {
		if slot != 0 {
			s.table[s.place(s.keys[slot])] = slot
		}
	}
}

// del takes key out of the table. What was pushed past its place moves back.
func (s *slots) del(key uint64) {
	mask := len(s.table) - 1
	hole := s.place(key)
	for i := (hole + 1) & mask; s.table[i] != 0; i = (i + 1) & mask {
		if (i-s.home(s.keys[s.table[i]]))&mask >= (i-hole)&mask {
			s.table[hole] = s.table[i]
			hole = i
		}
	}
	s.table[hole] = 0
	s.n--
}
