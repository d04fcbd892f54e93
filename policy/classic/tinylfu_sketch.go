package classic

import (
	"math/bits"

	"reprise/internal/container"
)

// sketch is a count-min sketch: four counters of 4 bits for each key, one in each of four rows, of which the least is the
// estimate, 15 at most. After age additions (0: never) all counters are halved, so that the past fades. The four of a key
// share 64 bytes, so that a look-up waits for memory once. It takes 8 to 16 bytes per entry of the capacity, at once up to
// a million entries: beyond them it doubles with the additions, since a capacity may be far more than what ever comes.
type sketch struct {
	words    []uint64 // in blocks of 8, two of them per row
	capacity int      // words in the end, at least
	age      int
	added    int
}

// sketchAtOnce is the most words that a sketch begins with.
const sketchAtOnce = 1 << 20

// lowBits3 are what a shift of a whole word leaves of its own to each counter.
const lowBits3 = 0x7777777777777777

// oddBits are the lowest of each counter.
const oddBits = 0x1111111111111111

func newSketch(capacity, age int) *sketch {
	n := 1 << bits.Len(uint(min(max(8, capacity), sketchAtOnce)-1))
	return &sketch{words: make([]uint64, n), capacity: capacity, age: age}
}

func (s *sketch) add(key uint64) {
	h, block := s.block(key)
	changed := false
	for row := range 4 {
		word, shift := counter(h, row)
		if block[word]>>shift&15 < 15 {
			block[word] += 1 << shift
			changed = true
		}
	}
	if changed {
		s.fade()
	}
	if s.added > len(s.words) && len(s.words) < s.capacity {
		s.words = append(s.words, s.words...) // one bit more of the hash chooses the half: no estimate changes
	}
}

func (s *sketch) of(key uint64) int {
	h, block := s.block(key)
	least := uint64(15)
	for row := range 4 {
		word, shift := counter(h, row)
		least = min(least, block[word]>>shift&15)
	}
	return int(least)
}

// block is where the counters of key are, and the bits that choose among them.
func (s *sketch) block(key uint64) (h uint64, words *[8]uint64) {
	h = container.Mix(key)
	at := int(h>>32) & (len(s.words) - 1) &^ 7
	return h, (*[8]uint64)(s.words[at:])
}

// counter is the place of a row's counter in the block: one of two words, and one of 16 places in it.
func counter(h uint64, row int) (word, shift int) {
	b := int(h >> (5 * row))
	return 2*row + b&1, b >> 1 & 15 * 4
}

// fade halves everything when it is time, the count of additions too, less what rounding down has lost: so the next time
// comes after some half of them, as in the publication and in Caffeine.
func (s *sketch) fade() {
	if s.added++; s.added != s.age {
		return
	}
	lost := 0
	for i, w := range s.words {
		lost += bits.OnesCount64(w & oddBits)
		s.words[i] = w >> 1 & lowBits3
	}
	s.added = max(0, s.added-lost/4) / 2
}
