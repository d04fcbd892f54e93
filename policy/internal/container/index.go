package container

import "math/bits"

// Index finds the numbers of keys. It holds the numbers alone, 4 bytes each in a table that is at most half full: the key of a number is
// kept where the number leads to, which the caller reads next in any case. So a look-up waits for memory as often as in a Table of 16
// Bytes a slot. The zero value is empty.
type Index[K ~uint64] struct {
	table []uint32 // a power of two long; 0 is unused
	n     int
}

// Len is the number of keys.
func (x *Index[K]) Len() int { return x.n }

// Find is the number of key, 0 where it has none. of returns the key of a number.
func (x *Index[K]) Find(key K, of func(uint32) K) uint32 {
	if x.n == 0 || key == 0 {
		return 0
	}
	return x.table[x.place(key, of)]
}

// Add adds the number of a key, not 0, that has none.
func (x *Index[K]) Add(key K, number uint32, of func(uint32) K) {
	if x.n++; 2*x.n > len(x.table) {
		x.grow(of)
	}
	x.table[x.place(key, of)] = number
}

// Remove drops a key that has a number. What was pushed past its place moves back.
func (x *Index[K]) Remove(key K, of func(uint32) K) {
	mask := len(x.table) - 1
	hole := x.place(key, of)
	for i := (hole + 1) & mask; x.table[i] != 0; i = (i + 1) & mask {
		if (i-x.home(of(x.table[i])))&mask >= (i-hole)&mask {
			x.table[hole] = x.table[i]
			hole = i
		}
	}
	x.table[hole] = 0
	x.n--
}

// Bytes is the memory in use.
func (x *Index[K]) Bytes() int64 { return 4 * int64(len(x.table)) }

// home is where a search for key begins (Fibonacci hashing).
func (x *Index[K]) home(key K) int {
	return int(uint64(key) * 0x9E3779B97F4A7C15 >> (bits.LeadingZeros64(uint64(len(x.table))) + 1))
}

// place is where key lies in the table, or where it would.
func (x *Index[K]) place(key K, of func(uint32) K) int {
	i := x.home(key)
	for x.table[i] != 0 && of(x.table[i]) != key {
		i = (i + 1) & (len(x.table) - 1)
	}
	return i
}

func (x *Index[K]) grow(of func(uint32) K) {
	old := x.table
	x.table = make([]uint32, max(minTable, 2*len(old)))
	for _, number := range old {
		if number != 0 {
			x.table[x.place(of(number), of)] = number
		}
	}
}
