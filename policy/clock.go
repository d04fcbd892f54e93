package policy

var clockSpec = spec{
	name: "clock", says: "FIFO with a second chance for what was used",
	params: []Param{
		{Name: "bits", Says: "width of the counter of uses: an entry has up to 2^bits-1 further chances", Default: "1", Min: 1, Max: 8},
	},
	make: func(a args) Evictor { return newClock(a.whole("bits")) },
}

// Clock evicts the oldest entry whose counter is 0. A hit counts up to 2^bits-1; an entry that comes to the old end with
// a counter above 0 loses one and goes back to the young end. A new entry starts at 0: the textbook's starts at 1 and is
// another policy.
//
// Every call is O(1), Victim on average: each step of it was paid for by a hit. Memory per resident: some 60 bytes.
// Source: Corbató, "A paging experiment with the Multics system" (1968); as FIFO-reinsertion in libCacheSim.
type Clock struct {
	slab   slab[uint8] // the counters
	queue  queue       // the youngest at its head
	staged uint32      // the newest entry, in no queue
	most   uint8
}

var _ Evictor = (*Clock)(nil)

func newClock(bits int) *Clock { return &Clock{most: uint8(1<<bits - 1)} }

// Insert holds it apart; the one before it goes to the young end.
func (c *Clock) Insert(it Item, _ Tick) {
	if _, ok := c.slab.find(it.ID); ok {
		return
	}
	c.link()
	c.staged = c.slab.add(it.ID, 0)
}

// Hit counts a use.
func (c *Clock) Hit(id ID, _ Tick) {
	slot, ok := c.slab.find(id)
	if !ok {
		return
	}
	c.link()
	if uses := &c.slab.cells[slot].val; *uses < c.most {
		*uses++
	}
}

// Victim sends what was used to the young end and names the first entry that was not.
func (c *Clock) Victim() (ID, bool) {
	if c.queue.n == 0 {
		return c.slab.name(c.staged)
	}
	for {
		x := &c.slab.cells[c.queue.tail]
		if x.val == 0 {
			return x.id, true
		}
		x.val--
		c.slab.toHead(&c.queue, c.queue.tail)
	}
}

// Remove drops id.
func (c *Clock) Remove(id ID, _ Reason) {
	slot, ok := c.slab.find(id)
	if !ok {
		return
	}
	if slot == c.staged {
		c.staged = 0
	} else {
		c.slab.unlink(&c.queue, slot)
	}
	c.slab.free(slot)
}

// link lets the staged entry in.
func (c *Clock) link() {
	if c.staged != 0 {
		c.slab.pushHead(&c.queue, c.staged)
		c.staged = 0
	}
}
