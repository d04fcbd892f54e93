package blocks

import (
	"reprise/cmd/reprise-lab/policies/pinning"
	"reprise/policy"
	"reprise/policy/classic"
)

// Cache is the KV blocks of one engine: slots that have the content of a block, or none yet. Which content is dropped when a slot is needed
// is decided by an evictor, among the blocks that no running request holds. With classic.LRU the rule is that of vLLM (see recent).
//
// A request holds the blocks that are there, reserves slots for the others, fills them as they are computed, and releases all when it ends,
// the deepest first. Cache is the owner of these counts, and the only caller of its evictor's Insert and Remove. It is not safe for
// concurrent use. It takes 8 bytes for each number of a block, besides what the evictor takes for each resident one.
type Cache struct {
	evictor pinning.Pins
	context pinning.Contextual // the evictor; nil where it is none

	capacity int // slots
	slots    []slot
	resident int // slots with content
	reserved int // slots without content
	held     int // resident blocks that requests hold
	born     uint32

	evicted   []uint32
	evictions int64
}

// slot is the state of the block of one number.
type slot struct {
	born uint32 // which insertion of all; 0: not resident
	refs uint32 // of running requests
}

// NewCache returns an empty cache of so many blocks, with an empty evictor. In place of a classic.LRU it uses recent, which can pin.
func NewCache(capacity int, e policy.Evictor) *Cache {
	if _, ok := e.(*classic.LRU); ok {
		e = &recent{}
	}
	c := &Cache{capacity: capacity, evictor: pinning.Pinned(e)}
	c.context, _ = c.evictor.Evictor.(pinning.Contextual)
	return c
}

// Has reports whether the block of a number is resident.
func (c *Cache) Has(block uint32) bool {
	return int64(block) < int64(len(c.slots)) && c.slots[block].born != 0
}

// Run is how many blocks of a chain are resident, from its start without a gap.
func (c *Cache) Run(chain []uint32) int {
	for i, b := range chain {
		if !c.Has(b) {
			return i
		}
	}
	return len(chain)
}

// Room is how many slots can be reserved now.
func (c *Cache) Room() int { return c.capacity - c.held - c.reserved }

// Resident is the number of blocks with content.
func (c *Cache) Resident() int { return c.resident }

// Held reports whether a request holds the block.
func (c *Cache) Held(block uint32) bool { return c.Has(block) && c.slots[block].refs > 0 }

// Evictions counts the blocks that were dropped for others.
func (c *Cache) Evictions() int64 { return c.evictions }

// Hold counts a use of a resident block, and keeps it until as many calls of Release. Of it, the fields that describe the request are used:
// Category, Offset and Prob; its ID is set.
func (c *Cache) Hold(block uint32, it *policy.Item, at policy.Tick) {
	s := &c.slots[block]
	id := idOf(s.born, block)
	if c.context != nil {
		it.ID = id
		c.context.HitIn(*it, at)
	} else {
		c.evictor.Hit(id, at)
	}
	if s.refs++; s.refs == 1 {
		c.held++
		c.evictor.Pin(id)
	}
}

// Reserve takes a slot for content that is not computed yet. It drops a block if there is no empty one, and reports false if requests hold
// all.
func (c *Cache) Reserve() bool {
	if c.resident+c.reserved >= c.capacity && !c.evict() {
		return false
	}
	c.reserved++
	return true
}

func (c *Cache) evict() bool {
	id, ok := c.evictor.Victim()
	if !ok {
		return false
	}
	block := uint32(id)
	c.drop(block, policy.Evicted)
	c.evicted = append(c.evicted, block)
	c.evictions++
	return true
}

func (c *Cache) drop(block uint32, why policy.Reason) {
	c.evictor.Remove(idOf(c.slots[block].born, block), why)
	c.slots[block] = slot{}
	c.resident--
}

// Fill gives a reserved slot the content of a block, and holds it. It reports false, and the slot stays reserved, if that block is resident
// already: of two equal blocks that are computed at the same time the first one can be found.
func (c *Cache) Fill(block uint32, it *policy.Item, at policy.Tick) bool {
	if c.Has(block) {
		return false
	}
	for int64(len(c.slots)) <= int64(block) {
		c.slots = append(c.slots, slot{})
	}
	if c.born++; c.born == 0 { // an ID of 2^32 insertions ago may be used again; 0 is never resident
		c.born = 1
	}
	c.reserved--
	c.resident++
	c.held++
	c.slots[block] = slot{born: c.born, refs: 1}
	it.ID = idOf(c.born, block)
	c.evictor.Insert(*it, at)
	c.evictor.Pin(it.ID)
	return true
}

// Release ends one Hold or Fill of a block.
func (c *Cache) Release(block uint32, at policy.Tick) {
	s := &c.slots[block]
	if s.refs--; s.refs == 0 {
		c.held--
		c.evictor.Unpin(idOf(s.born, block), at)
	}
}

// Free gives back slots that were reserved and not filled.
func (c *Cache) Free(slots int) { c.reserved -= slots }

// Drop removes a resident block that no request holds, because its content went elsewhere.
func (c *Cache) Drop(block uint32) { c.drop(block, policy.Expired) }

// Evicted returns the blocks that were dropped for others since the last call, in order. The slice is valid until the next Reserve.
func (c *Cache) Evicted() []uint32 {
	all := c.evicted
	c.evicted = c.evicted[:0]
	return all
}

// idOf is the ID of a resident block. The insertion is in the high bits, so that the ID of a block that returns is a new one.
func idOf(born, block uint32) policy.ID { return policy.ID(born)<<32 | policy.ID(block) }
