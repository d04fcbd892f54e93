package blocks

import "reprise/policy"

// Named is a Cache whose blocks have keys, such as hashes of their content. It gives them their numbers, and the number of a block that was
// dropped to the next one, so that it takes memory for the most blocks that were resident at a time, however many come and go. Of the
// methods of Cache that it does not replace, those with numbers take what Find and Fill return.
type Named[K comparable] struct {
	*Cache
	// Dropped is called with each block that is dropped for another one, in order; nil: nothing is.
	Dropped func(key K)

	numbers map[K]uint32
	keys    []K      // of each number
	spare   []uint32 // numbers without a block
}

// NewNamed returns an empty cache of so many blocks, with an empty evictor.
func NewNamed[K comparable](capacity int, e policy.Evictor) *Named[K] {
	return &Named[K]{Cache: NewCache(capacity, e), numbers: map[K]uint32{}}
}

// Find is the number of a resident block.
func (n *Named[K]) Find(key K) (block uint32, ok bool) {
	block, ok = n.numbers[key]
	return block, ok
}

// Run is how many blocks of a chain are resident, from its start without a gap.
func (n *Named[K]) Run(chain []K) int {
	for i, key := range chain {
		if _, ok := n.numbers[key]; !ok {
			return i
		}
	}
	return len(chain)
}

// Leading appends the numbers of the blocks that Run counts.
func (n *Named[K]) Leading(dst []uint32, chain []K) []uint32 {
	for _, key := range chain {
		block, ok := n.numbers[key]
		if !ok {
			break
		}
		dst = append(dst, block)
	}
	return dst
}

// Reserve is that of Cache.
func (n *Named[K]) Reserve() bool {
	ok := n.Cache.Reserve()
	for _, block := range n.Cache.Evicted() {
		if n.Dropped != nil {
			n.Dropped(n.keys[block])
		}
		n.forget(block)
	}
	return ok
}

// Fill gives a reserved slot the content of a block that is not resident, as Find has shown, and holds it. It returns its number.
func (n *Named[K]) Fill(key K, it *policy.Item, at policy.Tick) (block uint32) {
	if last := len(n.spare) - 1; last >= 0 {
		block, n.spare = n.spare[last], n.spare[:last]
		n.keys[block] = key
	} else {
		block = uint32(len(n.keys))
		n.keys = append(n.keys, key)
	}
	n.numbers[key] = block
	n.Cache.Fill(block, it, at)
	return block
}

// Drop is that of Cache.
func (n *Named[K]) Drop(block uint32) {
	n.Cache.Drop(block)
	n.forget(block)
}

// Evicted returns nothing: Dropped is called instead.
func (n *Named[K]) Evicted() []uint32 { return nil }

func (n *Named[K]) forget(block uint32) {
	var none K
	delete(n.numbers, n.keys[block])
	n.keys[block] = none
	n.spare = append(n.spare, block)
}
