package classic

import (
	"reprise/internal/container"
	"reprise/policy"
)

// S3FIFOSpec describes s3fifo and its parameters.
var S3FIFOSpec = policy.Spec{
	Name: "s3fifo", Says: "three FIFOs: small for what is new, main for what was used, ghosts",
	Params: []policy.Param{
		{Name: "small", Says: "entries in the small queue, at least 1", Default: "0.1C", Max: 1e12},
		{Name: "ghost", Says: "identities remembered of what left the small queue", Default: "0.9C", Max: 1e12},
		{Name: "threshold", Says: "hits in the small queue that earn a place in main", Default: "2", Min: 1, Max: 255},
	},
	New: func(a policy.Args) policy.Evictor {
		return newS3FIFO(policy.CapacityOf(a), a.Whole("small"), a.Whole("ghost"), a.Whole("threshold"))
	},
}

// s3fifo keeps new entries in a small FIFO and useful ones in a main FIFO. While the small one holds its share or more, its
// oldest entry leaves: to main with threshold hits, else out of the cache, as a ghost. Otherwise the oldest of main leaves,
// unless it was hit: then it goes round again and loses one hit of the three that count. An item that returns while it is a
// ghost goes to main directly.
//
// The condition is on the small queue, not on main as in libCacheSim: when the cache is full they are the same, and when
// fewer entries fit than estimated main cannot take all room of the small one. Small is at least 1: with 0 no entry could
// reach main.
//
// Hit is O(1) and moves nothing; Victim is O(1) on average, because each step takes back a hit. Memory per resident:
// some 60 bytes, and 45 for each ghost. Source: Yang et al., FIFO queues are all you need for cache eviction, SOSP 2023.
type s3fifo struct {
	slots     container.Slots[policy.ID, s3fifoEntry]
	small     container.Queue
	main      container.Queue
	ghosts    container.Ghosts
	size      policy.Capacity
	share     int // entries in the small queue at the given capacity
	room      int // ghosts then
	threshold uint8
	staged    uint32 // the new entry, in neither queue yet
	chosen    uint32 // the victim until something changes
}

type s3fifoEntry struct {
	key  uint64
	hits uint8
	main bool // in main, or to be
}

// turns is how many rounds in main an entry can get for the hits of one round.
const turns = 3

var _ policy.Evictor = (*s3fifo)(nil)

func newS3FIFO(size policy.Capacity, small, ghost, threshold int) *s3fifo {
	return &s3fifo{size: size, share: small, room: ghost, threshold: uint8(threshold), ghosts: container.NewGhosts(ghost)}
}

// Insert stages the item, for main if it is a ghost, else for the small queue.
func (s *s3fifo) Insert(it policy.Item, _ policy.Tick) {
	if _, ok := s.slots.Find(it.ID); ok {
		return
	}
	s.link()
	key := it.Identity()
	s.staged = s.slots.Add(it.ID, s3fifoEntry{key: key, main: s.ghosts.Take(key)})
}

// Hit counts.
func (s *s3fifo) Hit(id policy.ID, _ policy.Tick) {
	slot, ok := s.slots.Find(id)
	if !ok {
		return
	}
	s.link()
	if e := &s.slots.Cells[slot].Val; e.hits < 255 {
		e.hits++
	}
}

// Victim moves useful entries on, from small to main and from main to its other end, and is the first one that is not.
func (s *s3fifo) Victim() (policy.ID, bool) {
	share := max(1, s.size.Of(s.share))
	for s.chosen == 0 && s.small.Len+s.main.Len > 0 {
		if s.small.Len == 0 || s.small.Len < share && s.main.Len > 0 {
			s.chosen = s.fromMain()
		} else {
			s.chosen = s.fromSmall()
		}
	}
	slot := s.chosen
	if slot == 0 {
		slot = s.staged
	}
	return s.slots.Name(slot)
}

// Remove drops id. Evicted from the small queue it becomes a ghost. Expired in main it becomes one too, so that it
// returns there.
func (s *s3fifo) Remove(id policy.ID, why policy.Reason) {
	slot, ok := s.slots.Find(id)
	if !ok {
		return
	}
	e := s.slots.Cells[slot].Val
	switch {
	case slot == s.staged:
		s.staged = 0
	case e.main:
		s.slots.Unlink(&s.main, slot)
		if why == policy.Expired {
			s.ghosts.Add(e.key)
		}
	default:
		s.slots.Unlink(&s.small, slot)
		if why == policy.Evicted {
			s.ghosts.Add(e.key)
		}
	}
	s.slots.Free(slot)
	s.chosen = 0
	if why == policy.Evicted && s.size.Evicted(s.slots.Len()) {
		s.ghosts.Room = s.size.Of(s.room)
	}
}

// link puts the staged entry into its queue.
func (s *s3fifo) link() {
	s.chosen = 0
	if s.staged == 0 {
		return
	}
	to := &s.small
	if s.slots.Cells[s.staged].Val.main {
		to = &s.main
	}
	s.slots.PushHead(to, s.staged)
	s.staged = 0
}

// fromSmall returns the oldest entry of the small queue with too few hits, after those before it went to main; 0 when all did.
func (s *s3fifo) fromSmall() uint32 {
	for slot := s.small.Tail; slot != 0; slot = s.small.Tail {
		e := &s.slots.Cells[slot].Val
		if e.hits < s.threshold {
			return slot
		}
		e.hits, e.main = 0, true
		s.slots.Unlink(&s.small, slot)
		s.slots.PushHead(&s.main, slot)
	}
	return 0
}

// fromMain returns the oldest of main that was not hit since its last turn.
func (s *s3fifo) fromMain() uint32 {
	for {
		slot := s.main.Tail
		e := &s.slots.Cells[slot].Val
		if e.hits == 0 {
			return slot
		}
		e.hits = min(e.hits, turns) - 1
		s.slots.ToHead(&s.main, slot)
	}
}
