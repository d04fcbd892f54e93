package blocks

import (
	"reprise/cmd/reprise-lab/policies/pinning"
	"reprise/policy"
)

// recent is classic.LRU for the blocks of one Cache, which calls it with blocks that are resident, and pins each once. A pinned block is in no
// queue; its Unpin puts it at the newest end, as vLLM does with the blocks of a request that ends. The queue is a ring that is linked by the
// numbers of blocks, so that no call searches for an ID. It needs 8 bytes for each number.
type recent struct {
	ring []neighbours // by number + 1, of blocks that are not pinned; 0 is between the newest and the oldest
}

type neighbours struct{ older, newer uint32 }

var (
	_ policy.Evictor = (*recent)(nil)
	_ pinning.Pinner = (*recent)(nil)
)

// Insert puts it at the newest end.
func (r *recent) Insert(it policy.Item, _ policy.Tick) {
	at := uint32(it.ID) + 1
	for int64(len(r.ring)) <= int64(at) {
		r.ring = append(r.ring, neighbours{})
	}
	r.link(at)
}

// Hit moves id to the newest end, where a pinned one comes in any case.
func (r *recent) Hit(id policy.ID, _ policy.Tick) {
	if at := uint32(id) + 1; r.linked(at) {
		r.unlink(at)
		r.link(at)
	}
}

// Victim names the oldest block.
func (r *recent) Victim() (policy.ID, bool) {
	if len(r.ring) == 0 || r.ring[0].newer == 0 {
		return 0, false
	}
	return policy.ID(r.ring[0].newer - 1), true
}

// Remove drops id.
func (r *recent) Remove(id policy.ID, _ policy.Reason) {
	if at := uint32(id) + 1; r.linked(at) {
		r.unlink(at)
	}
}

// Pin takes id out of the queue.
func (r *recent) Pin(id policy.ID) { r.unlink(uint32(id) + 1) }

// Unpin puts id at the newest end.
func (r *recent) Unpin(id policy.ID, _ policy.Tick) { r.link(uint32(id) + 1) }

// linked reports whether a place is in the queue: the neighbours of one that is not are both 0, which of the only one are so too.
func (r *recent) linked(at uint32) bool { return r.ring[at] != neighbours{} || r.ring[0].newer == at }

func (r *recent) link(at uint32) {
	newest := r.ring[0].older
	r.ring[at] = neighbours{older: newest}
	r.ring[newest].newer = at
	r.ring[0].older = at
}

func (r *recent) unlink(at uint32) {
	n := r.ring[at]
	r.ring[n.older].newer, r.ring[n.newer].older = n.newer, n.older
	r.ring[at] = neighbours{}
}
