package mrc

import (
	"math"

	"reprise/internal/container"
)

// sample is the blocks whose positions are followed.
type sample struct {
	stack  *stack
	rate   float64  // share of the blocks
	number []uint32 // of each block in the stack; or unseen or seen for the others
	chain  []uint32 // numbers of the sampled blocks of a request
}

// Numbers of blocks that are not sampled, before and after their first use.
const (
	unseen = none - iota
	seen
)

func newSample(distinct int, rate float64, seed uint64) *sample {
	s := &sample{number: make([]uint32, distinct), rate: rate}
	n := uint32(0)
	for b := range s.number {
		s.number[b] = unseen
		if rate == 1 || sampled(uint32(b), rate, seed) {
			s.number[b] = n
			n++
		}
	}
	s.stack = newStack(int(n))
	return s
}

// sampled reports whether a block is in the sample: it is the one that chance picks of its stratum, which is 1/rate blocks whose numbers
// follow each other. Numbers are mostly given in the order of first use, so that every prompt has its share of the sample. That has half the
// error of a choice for each block alone.
func sampled(block uint32, rate float64, seed uint64) bool {
	start := func(stratum float64) uint32 { return uint32(math.Ceil(stratum / rate)) }
	k := math.Floor(float64(block) * rate)
	if start(k) > block { // by rounding, as the next one
		k--
	} else if start(k+1) <= block {
		k++
	}
	return block == start(k)+uint32(chance(uint64(k), seed)*float64(start(k+1)-start(k)))
}

// chance is a fixed number in [0, 1).
func chance(x, seed uint64) float64 {
	return float64(container.Mix(container.Mix(seed^0x5348415244530000)+x)>>11) / (1 << 53)
}

// request counts the positions of the blocks of a prompt at the start of a request, and then uses them and those of the answer deepest
// first.
func (s *sample) request(prompt, answer []uint32, c *Curve) {
	s.chain = s.chain[:0]
	c.First += s.pick(prompt)
	c.First += s.measure(c)
	s.pick(answer)
	for i := len(s.chain) - 1; i >= 0; i-- {
		s.stack.touch(s.chain[i])
	}
}

// pick appends the sampled blocks to the chain, and counts the first uses of others.
func (s *sample) pick(blocks []uint32) (first int64) {
	for _, b := range blocks {
		switch n := s.number[b]; n {
		case seen:
		case unseen:
			s.number[b] = seen
			first++
		default:
			s.chain = append(s.chain, n)
		}
	}
	return first
}

// measure counts the positions of the chain. Most blocks were used last in one request with the block before them: they have the slot
// below its slot, and so the next position.
func (s *sample) measure(c *Curve) (first int64) {
	slots := s.stack.slot
	last, position := none, 0
	for _, n := range s.chain {
		at := slots[n]
		switch {
		case at == none:
			c.miss()
			first++
			last = none
			continue
		case last != none && at == last-1:
			position++
		default:
			position = s.stack.position(n)
		}
		c.hit(position)
		last = at
	}
	return first
}
