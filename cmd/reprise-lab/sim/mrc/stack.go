package mrc

import "math/bits"

// none is no slot, or no number.
const none = ^uint32(0)

// stack is the blocks in the order of their last use, the newest first. Each has a slot, which are given in rising order, and its position
// is the number of slots in use from its own up. The slots in use are bits, whose words are counted by a Fenwick tree: the blocks of a
// prompt, used one after the other, share a word of 64, so that the tree is changed and read once for many of them.
type stack struct {
	slot  []uint32 // of each block, none before its first use
	owner []uint32 // of each slot
	used  []uint64 // bits of slots
	tree  []int32  // Fenwick tree of how many bits of each word are set
	next  uint32   // the first slot that was not given yet
	live  int      // blocks that have a slot

	left, taken pending // changes that are not in the tree yet: of slots left, and of slots taken
}

// pending is a change of the count of one word.
type pending struct {
	word uint32
	by   int32
}

// newStack has room for blocks numbered below n. There are twice as many slots as blocks, so that compact costs little per touch.
func newStack(n int) *stack {
	s := &stack{slot: make([]uint32, n)}
	for i := range s.slot {
		s.slot[i] = none
	}
	s.empty((2*n + 191) / 64)
	return s
}

// empty makes so many words of slots, none in use.
func (s *stack) empty(words int) {
	s.owner = make([]uint32, 64*words)
	s.used = make([]uint64, words)
	s.tree = make([]int32, words+1)
	s.next = 0
}

// position is 1 for the block that was used last; the block has a slot.
func (s *stack) position(block uint32) int {
	s.flush()
	at := s.slot[block]
	below := bits.OnesCount64(s.used[at/64] & (1<<(at%64) - 1))
	for i := at / 64; i > 0; i &= i - 1 {
		below += int(s.tree[i])
	}
	return s.live - below
}

// touch makes block the one used last.
func (s *stack) touch(block uint32) {
	if int(s.next) == len(s.owner) {
		s.compact()
	}
	s.leave(block)
	at := s.next
	s.next++
	s.slot[block], s.owner[at] = at, block
	s.used[at/64] |= 1 << (at % 64)
	s.live++
	s.change(&s.taken, at/64, 1)
}

// leave gives up the slot of a block that has one, for the next.
func (s *stack) leave(block uint32) {
	at := s.slot[block]
	if at == none {
		return
	}
	s.used[at/64] &^= 1 << (at % 64)
	s.live--
	s.change(&s.left, at/64, -1)
}

// change adds to the count of a word.
func (s *stack) change(p *pending, word uint32, by int32) {
	if word != p.word {
		s.write(p)
		p.word = word
	}
	p.by += by
}

func (s *stack) flush() {
	s.write(&s.left)
	s.write(&s.taken)
}

func (s *stack) write(p *pending) {
	if p.by == 0 {
		return
	}
	for i := int(p.word) + 1; i < len(s.tree); i += i & -i {
		s.tree[i] += p.by
	}
	p.by = 0
}

// compact gives the blocks new slots in the same order, the lowest ones.
func (s *stack) compact() {
	s.flush()
	old := s.owner
	used := s.used
	s.empty(len(used))
	for word, set := range used {
		for ; set != 0; set &= set - 1 {
			block := old[64*word+bits.TrailingZeros64(set)]
			at := s.next
			s.next++
			s.slot[block], s.owner[at] = at, block
			s.used[at/64] |= 1 << (at % 64)
		}
	}
	for i := range s.used {
		s.tree[i+1] += int32(bits.OnesCount64(s.used[i]))
		if up := i + 1 + (i+1)&-(i+1); up < len(s.tree) {
			s.tree[up] += s.tree[i+1]
		}
	}
}
