package container

import "math/bits"

const minTable = 16

// Index finds the numbers of keys. It holds the numbers and 32 bits of a hash of each key, 8 bytes together; the key itself is kept where the
// number leads to, which the caller reads next in any case. As only a key with the same hash is compared, a look-up of an unknown key waits for
// memory once. The zero value is empty.
type Index[K ~uint64] struct {
	table []indexed // a power of two long
	n     int
	shift uint8 // of a hash, to its home
}

type indexed struct {
	number uint32 // 0: unused
	hash   uint32
}

// Len is the number of keys.
func (x *Index[K]) Len() int { return x.n }

// Find is the number of key, 0 where it has none. of returns the key of a number.
func (x *Index[K]) Find(key K, of func(uint32) K) uint32 {
	if x.n == 0 || key == 0 {
		return 0
	}
	return x.table[x.place(key, of)].number
}

// Add adds the number of a key, not 0, that has none.
func (x *Index[K]) Add(key K, number uint32) {
	if x.n++; 4*x.n > 3*len(x.table) {
		x.grow()
	}
	x.put(indexed{number, hashOf(key)})
}

// Remove drops a key that has a number. What was pushed past its place moves back.
func (x *Index[K]) Remove(key K, of func(uint32) K) {
	mask := len(x.table) - 1
	hole := x.place(key, of)
	for i := (hole + 1) & mask; x.table[i].number != 0; i = (i + 1) & mask {
		if (i-x.home(x.table[i].hash))&mask >= (i-hole)&mask {
			x.table[hole] = x.table[i]
			hole = i
		}
	}
	x.table[hole] = indexed{}
	x.n--
}

// Bytes is the memory in use.
func (x *Index[K]) Bytes() int64 {
	const indexedBytes = 8
	return indexedBytes * int64(len(x.table))
}

// hashOf is the upper half of the product with the golden ratio (Fibonacci hashing).
func hashOf[K ~uint64](key K) uint32 { return uint32(uint64(key) * 0x9E3779B97F4A7C15 >> 32) }

// home is where a search for a hash begins.
func (x *Index[K]) home(hash uint32) int { return int(hash >> (x.shift & 31)) }

// place is where key lies in the table, or where it would.
func (x *Index[K]) place(key K, of func(uint32) K) int {
	h := hashOf(key)
	for i := x.home(h); ; i = (i + 1) & (len(x.table) - 1) {
		if t := x.table[i]; t.number == 0 || t.hash == h && of(t.number) == key {
			return i
		}
	}
}

func (x *Index[K]) put(t indexed) {
	i := x.home(t.hash)
	for x.table[i].number != 0 {
		i = (i + 1) & (len(x.table) - 1)
	}
	x.table[i] = t
}

func (x *Index[K]) grow() {
	old := x.table
	x.table = make([]indexed, max(minTable, 2*len(old)))
	x.shift = uint8(bits.LeadingZeros32(uint32(len(x.table))) + 1)
	for _, t := range old {
		if t.number != 0 {
			x.put(t)
		}
	}
}
