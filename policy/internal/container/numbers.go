package container

import "math/bits"

// Numbers gives keys small numbers from 1, the latest free number first in use again, for state that lies in slices by
// number. The table holds numbers only, and a look-up compares with the key kept by number: with 16 to 24 bytes per key it is
// smaller than Slots, for entries that are in no queue. A key of 0 takes a number and is in no table. The zero value is
// empty.
type Numbers[K ~uint64] struct {
	table []uint32 // a power of two long and at most half full; 0 is unused
	keys  []K      // by number
	spare uint32   // first unused number, chained by keys
	n     int      // keys in the table
}

// Len is the number of keys but 0.
func (s *Numbers[K]) Len() int { return s.n }

// Key is the key that has a number.
func (s *Numbers[K]) Key(number uint32) K { return s.keys[number] }

// Find is the number of key.
func (s *Numbers[K]) Find(key K) (number uint32, ok bool) {
	if s.n == 0 || key == 0 {
		return 0, false
	}
	number = s.table[s.place(key)]
	return number, number != 0
}

// Add numbers a key that has no number yet. What lies by number grows by one when the number is its length.
func (s *Numbers[K]) Add(key K) uint32 {
	number := s.take()
	s.keys[number] = key
	if key == 0 {
		return number
	}
	if s.n++; 2*s.n > len(s.table) {
		s.grow()
	}
	s.table[s.place(key)] = number
	return number
}

// Free gives a number back.
func (s *Numbers[K]) Free(number uint32) {
	if key := s.keys[number]; key != 0 {
		s.del(key)
	}
	s.keys[number], s.spare = K(s.spare), number
}

// All yields the keys but 0, in no order.
func (s *Numbers[K]) All(yield func(key K, number uint32) bool) {
	for _, number := range s.table {
		if number != 0 && !yield(s.keys[number], number) {
			return
		}
	}
}

func (s *Numbers[K]) take() uint32 {
	if number := s.spare; number != 0 {
		s.spare = uint32(s.keys[number])
		return number
	}
	if len(s.keys) == 0 {
		s.keys = make([]K, 1)
	}
	s.keys = append(s.keys, 0)
	return uint32(len(s.keys) - 1)
}

// home is where a search for key begins (Fibonacci hashing).
func (s *Numbers[K]) home(key K) int {
	return int(uint64(key) * 0x9E3779B97F4A7C15 >> (bits.LeadingZeros64(uint64(len(s.table))) + 1))
}

// place is where key lies in the table, or where it would.
func (s *Numbers[K]) place(key K) int {
	i := s.home(key)
	for s.table[i] != 0 && s.keys[s.table[i]] != key {
		i = (i + 1) & (len(s.table) - 1)
	}
	return i
}

func (s *Numbers[K]) grow() {
	old := s.table
	s.table = make([]uint32, max(minTable, 2*len(old)))
	for _, number := range old {
		if number != 0 {
			s.table[s.place(s.keys[number])] = number
		}
	}
}

// del takes key out of the table. What was pushed past its place moves back.
func (s *Numbers[K]) del(key K) {
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
