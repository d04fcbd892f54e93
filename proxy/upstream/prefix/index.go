package prefix

import "math"

// index has the blocks that each member of a fleet should hold, under the rule of vLLM's block cache: of all blocks that a member has no
// room for, those used least recently go first, and of one request its last block is the least recent. So the tail of a chain goes
// before its head, and a prefix that many requests share stays.
//
// A block is pending while the first request that needs it has not been answered: it will be there, but is not yet. A block is out of reach
// if more others were added to its member since its last use than the reach of the member: the index keeps it, and does not count it as
// held, because replies show that the member has lost such blocks. A member and a block cost at most 80 bytes. An Index has no lock: its owner has one.
type index struct {
	nodes  []node
	free   uint32   // the first node without a block, linked by next
	slots  []uint64 // the open-addressing table: the upper half of a block, and the first of its nodes
	blocks int      // different ones, each in one slot
	queues []queue  // by member
}

// node is one block at one member. Nodes refer to each other by their place in Index.nodes, 0 is none.
type node struct {
	block        Block
	older, newer uint32 // in the queue of the member
	next         uint32 // the same block at another member
	used         uint32 // clock of the member at the last use
	member       uint16
	pending      bool
}

// queue is what one member holds, in the order of its last use.
type queue struct {
	oldest, newest  uint32
	count, capacity int
	clock           uint32 // blocks that were ever added
	reach           uint32
}

// firstSlots is the size of an empty table, a power of two.
const firstSlots = 64

// newIndex returns an index without blocks. capacities has the capacity of each member, in blocks.
func newIndex(capacities ...int) *index {
	x := &index{nodes: make([]node, 1), slots: make([]uint64, firstSlots), queues: make([]queue, len(capacities))}
	for member, blocks := range capacities {
		x.queues[member].capacity, x.queues[member].reach = max(0, blocks), unlimited
	}
	return x
}

// Unlimited is the reach of a member of which no reply has shown another one, and Absent the age of a block that is not there.
const (
	unlimited = math.MaxUint32
	absent    = math.MaxUint32
)

// reach returns how many blocks can be added to a member until it has lost a block that is not used meanwhile.
func (x *index) reach(member int) uint32 { return x.queues[member].reach }

// setReach sets what Reach returns.
func (x *index) setReach(member int, blocks uint32) { x.queues[member].reach = blocks }

// held is how many blocks a member should hold, with those out of reach.
func (x *index) held(member int) int { return x.queues[member].count }

// capacity is how many blocks a member can hold.
func (x *index) capacity(member int) int { return x.queues[member].capacity }

// setCapacity sets how many blocks a member can hold.
func (x *index) setCapacity(member, blocks int) {
	x.queues[member].capacity = max(0, blocks)
	x.shrink(member)
}

// match sets held, which has the length of the fleet, to how many of the first blocks of a chain each member holds without a gap, pending
// ones included. It looks each block up once.
func (x *index) match(blocks []Block, held []int) {
	clear(held)
	for depth, b := range blocks {
		found := false
		for n := x.first(b); n != 0; n = x.nodes[n].next {
			if m := x.nodes[n].member; held[m] == depth && x.age(n) <= x.queues[m].reach {
				held[m], found = depth+1, true
			}
		}
		if !found {
			return
		}
	}
}

// insert makes the blocks of a chain those that a member used last. The new ones are pending if the request has not been answered, and
// with an answer none of them is pending any more. It returns how many of the first blocks were held before and were not pending, and sets
// ages, which is empty or has the length of blocks, to how many blocks were added to the member since the last use of each.
func (x *index) insert(member int, blocks []Block, answered bool, ages []uint32) (ready int) {
	for i := range ages {
		ages[i] = absent
	}
	blocks = blocks[:min(len(blocks), x.queues[member].capacity)]
	ready = len(blocks)
	for depth := len(blocks) - 1; depth >= 0; depth-- {
		n := x.find(member, blocks[depth])
		if n == 0 {
			n = x.add(member, blocks[depth])
			x.nodes[n].pending = true
		} else {
			x.unqueue(n)
			age := x.age(n)
			if len(ages) > 0 && !x.nodes[n].pending {
				ages[depth] = age
			}
			x.nodes[n].pending = x.nodes[n].pending || age > x.queues[member].reach
		}
		if x.nodes[n].pending {
			ready, x.nodes[n].pending = depth, !answered
		}
		x.enqueue(n)
	}
	x.shrink(member)
	return ready
}

// remove removes blocks of a member.
func (x *index) remove(member int, blocks []Block) {
	for _, b := range blocks {
		if n := x.find(member, b); n != 0 {
			x.drop(n)
		}
	}
}

// clear removes all blocks of a member.
func (x *index) clear(member int) {
	for x.queues[member].count > 0 {
		x.drop(x.queues[member].oldest)
	}
}

// shrink removes the blocks for which a member has no room.
func (x *index) shrink(member int) {
	for q := &x.queues[member]; q.count > q.capacity; {
		x.drop(q.oldest)
	}
}

func (x *index) enqueue(n uint32) {
	q := &x.queues[x.nodes[n].member]
	x.nodes[n].used = q.clock
	x.nodes[n].older, x.nodes[n].newer = q.newest, 0
	if q.newest == 0 {
		q.oldest = n
	} else {
		x.nodes[q.newest].newer = n
	}
	q.newest = n
	q.count++
}

func (x *index) unqueue(n uint32) {
	at := &x.nodes[n]
	q := &x.queues[at.member]
	if at.older == 0 {
		q.oldest = at.newer
	} else {
		x.nodes[at.older].newer = at.newer
	}
	if at.newer == 0 {
		q.newest = at.older
	} else {
		x.nodes[at.newer].older = at.older
	}
	q.count--
}

// age is how many blocks were added to the member of a block since its last use.
func (x *index) age(n uint32) uint32 {
	at := &x.nodes[n]
	return x.queues[at.member].clock - at.used
}

// find returns the node of a block at a member.
func (x *index) find(member int, b Block) uint32 {
	for n := x.first(b); n != 0; n = x.nodes[n].next {
		if int(x.nodes[n].member) == member {
			return n
		}
	}
	return 0
}

// add makes a node, which is in no queue yet.
func (x *index) add(member int, b Block) (n uint32) {
	if n = x.free; n != 0 {
		x.free = x.nodes[n].next
	} else {
		n = uint32(len(x.nodes))
		x.nodes = append(x.nodes, node{})
	}
	if 4*(x.blocks+1) > 3*len(x.slots) {
		x.grow()
	}
	slot := x.slot(b)
	x.queues[member].clock++
	x.nodes[n] = node{block: b, member: uint16(member), next: uint32(x.slots[slot])}
	if x.slots[slot] == 0 {
		x.blocks++
	}
	x.slots[slot] = uint64(b)&upper | uint64(n)
	return n
}

// drop removes a node from its queue and its block.
func (x *index) drop(n uint32) {
	x.unqueue(n)
	slot, next := x.slot(x.nodes[n].block), x.nodes[n].next
	switch before := uint32(x.slots[slot]); {
	case before != n:
		for x.nodes[before].next != n {
			before = x.nodes[before].next
		}
		x.nodes[before].next = next
	case next != 0:
		x.slots[slot] = x.slots[slot]&upper | uint64(next)
	default:
		x.empty(slot)
	}
	x.nodes[n] = node{next: x.free}
	x.free = n
}

// upper is the half of a block that is in its slot.
const upper = 0xffffffff << 32

// home is the slot where the search for a block begins. It depends on the upper half alone, so that a slot can move without its node.
func (x *index) home(slot uint64) int { return int(slot >> 32 & uint64(len(x.slots)-1)) }

// slot returns the place of a block in the table, or the empty one where it would be.
func (x *index) slot(b Block) int {
	at, mask := x.home(uint64(b)), len(x.slots)-1
	for ; x.slots[at] != 0; at = (at + 1) & mask {
		if (x.slots[at]^uint64(b))&upper == 0 && x.nodes[uint32(x.slots[at])].block == b {
			break
		}
	}
	return at
}

// first returns the first node of a block.
func (x *index) first(b Block) uint32 { return uint32(x.slots[x.slot(b)]) }

// empty empties a slot and moves the following ones back whose search would end there.
func (x *index) empty(hole int) {
	mask := len(x.slots) - 1
	for at := (hole + 1) & mask; x.slots[at] != 0; at = (at + 1) & mask {
		if (at-x.home(x.slots[at]))&mask >= (at-hole)&mask {
			x.slots[hole], hole = x.slots[at], at
		}
	}
	x.slots[hole] = 0
	x.blocks--
}

// grow doubles the table.
func (x *index) grow() {
	old := x.slots
	x.slots = make([]uint64, 2*len(old))
	mask := len(x.slots) - 1
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		at := x.home(slot)
		for x.slots[at] != 0 {
			at = (at + 1) & mask
		}
		x.slots[at] = slot
	}
}
