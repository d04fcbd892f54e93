package classic

import (
	"reprise/internal/container"
	"reprise/policy"
)

// TTLSpec describes ttl and its parameters.
var TTLSpec = policy.Spec{
	Name: "ttl", Says: "each entry expires a fixed time after its insertion; overflow as FIFO",
	Params: []policy.Param{{Name: "ttl", Says: "requests that an entry lives", Default: "2C", Min: 1, Max: 1e15}},
	New:    func(a policy.Args) policy.Evictor { return &TTL{life: int64(a.Num("ttl"))} },
}

// TTL gives every entry a life of ttl requests, from its insertion on: the ttl-th after it no longer gets an answer, and
// its caller then removes the entry. Overflow evicts the oldest, and expired ones are the oldest of all. A figure of a TTL
// policy needs its ttl: where that is longer than most entries stay it is FIFO.
//
// Every call is O(1). Memory per resident: some 40 bytes.
type TTL struct {
	slots container.Slots[policy.ID, int64] // the request when the life began
	queue container.Queue                   // the latest begun at its head
	life  int64
}

var (
	_ policy.Evictor  = (*TTL)(nil)
	_ policy.Expirer  = (*TTL)(nil)
	_ policy.Replacer = (*TTL)(nil)
)

// Insert begins a life.
func (l *TTL) Insert(it policy.Item, at policy.Tick) {
	if _, ok := l.slots.Find(it.ID); !ok {
		l.slots.PushHead(&l.queue, l.slots.Add(it.ID, at.Seq))
	}
}

// Hit changes nothing.
func (l *TTL) Hit(policy.ID, policy.Tick) {}

// Replace begins the life of it.ID again.
func (l *TTL) Replace(it policy.Item, at policy.Tick) {
	if slot, ok := l.slots.Find(it.ID); ok {
		l.slots.Cells[slot].Val = at.Seq
		l.slots.ToHead(&l.queue, slot)
	}
}

// Victim names the oldest entry.
func (l *TTL) Victim() (policy.ID, bool) { return l.slots.Name(l.queue.Tail) }

// Remove drops id.
func (l *TTL) Remove(id policy.ID, _ policy.Reason) {
	if slot, ok := l.slots.Find(id); ok {
		l.slots.Unlink(&l.queue, slot)
		l.slots.Free(slot)
	}
}

// Expired reports whether the life of id is over.
func (l *TTL) Expired(id policy.ID, at policy.Tick) bool {
	slot, ok := l.slots.Find(id)
	return ok && at.Seq-l.slots.Cells[slot].Val >= l.life
}
