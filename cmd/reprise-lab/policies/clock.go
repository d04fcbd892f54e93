package policies

import (
	"reprise/internal/container"
	"reprise/policy"
)

// clockSpec describes clock and its parameters.
var clockSpec = policy.Spec{
	Name: "clock", Says: "FIFO with a second chance for what was used",
	Params: []policy.Param{
		{Name: "bits", Says: "width of the counter of uses: an entry has up to 2^bits-1 further chances", Default: "1", Min: 1, Max: 8},
	},
	New: func(a policy.Args) policy.Evictor { return newClock(a.Whole("bits")) },
}

// Clock evicts the oldest entry whose counter is 0. A hit counts up to 2^bits-1; an entry that comes to the old end with
// a counter above 0 loses one and goes back to the young end. A new entry starts at 0: in the textbook it starts at 1, which is
// another policy.
//
// Every call is O(1), Victim on average: because each step takes back a hit. Memory per resident: some 40 bytes.
// Source: Corbató, "A paging experiment with the Multics system" (1968); as FIFO-reinsertion in libCacheSim.
type Clock struct {
	slots  container.Slots[policy.ID, uint8] // the counters
	queue  container.Queue                   // the youngest at its head
	staged uint32                            // the newest entry, in no queue
	most   uint8
}

var _ policy.Evictor = (*Clock)(nil)

func newClock(bits int) *Clock { return &Clock{most: uint8(1<<bits - 1)} }

// Insert stages the item; the one before it goes to the young end.
func (c *Clock) Insert(it policy.Item, _ policy.Tick) {
	if _, ok := c.slots.Find(it.ID); ok {
		return
	}
	c.link()
	c.staged = c.slots.Add(it.ID, 0)
}

// Hit counts a use.
func (c *Clock) Hit(id policy.ID, _ policy.Tick) {
	slot, ok := c.slots.Find(id)
	if !ok {
		return
	}
	c.link()
	if uses := &c.slots.Cells[slot].Val; *uses < c.most {
		*uses++
	}
}

// Victim moves used entries to the young end, and is the first one not used.
func (c *Clock) Victim() (policy.ID, bool) {
	if c.queue.Len == 0 {
		return c.slots.Name(c.staged)
	}
	for {
		x := &c.slots.Cells[c.queue.Tail]
		if x.Val == 0 {
			return x.Name, true
		}
		x.Val--
		c.slots.ToHead(&c.queue, c.queue.Tail)
	}
}

// Remove drops id.
func (c *Clock) Remove(id policy.ID, _ policy.Reason) {
	slot, ok := c.slots.Find(id)
	if !ok {
		return
	}
	if slot == c.staged {
		c.staged = 0
	} else {
		c.slots.Unlink(&c.queue, slot)
	}
	c.slots.Free(slot)
}

// link puts the staged entry into the queue.
func (c *Clock) link() {
	if c.staged != 0 {
		c.slots.PushHead(&c.queue, c.staged)
		c.staged = 0
	}
}
