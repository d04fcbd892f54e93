package fleet

import (
	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/policy"
	"reprise/policy/classic"
)

// pool is the KV blocks of one engine: a blocks.Cache under vLLM's rule, whose blocks have hashes as names. A block gets its content only when
// the step that computes it begins, so that a request cannot use what another has only reserved.
type pool struct {
	*blocks.Named[uint64]
	blocks  int
	made    uint64      // hashes of blocks of unknown content so far
	unknown int         // resident blocks of unknown content
	item    policy.Item // of the block at hand
	spare   [][]uint32  // the leases that ended, for use again
}

// mostUnknown is the last hash of a block of unknown content, which is a number from 1. A hash of content is that small once in 2^32 times.
const mostUnknown = 1<<32 - 1

// lease is the blocks of a request in an engine.
type lease struct {
	blocks []uint32 // that it holds, in the order of its tokens
	slots  int      // without content
}

func newPool(n int) *pool {
	p := &pool{Named: blocks.NewNamed[uint64](n, classic.NewLRU()), blocks: n}
	p.Dropped = p.dropped
	return p
}

// lease takes blocks for a request: those that are there for the first of hashes, then empty slots up to total. It returns how many were
// there, and false if the slots do not suffice; then it has changed nothing.
func (p *pool) lease(hashes []uint64, total int) (l lease, known int, ok bool) {
	if n := len(p.spare); n > 0 {
		l.blocks, p.spare = p.spare[n-1][:0], p.spare[:n-1]
	}
	l.blocks = p.Leading(l.blocks, hashes)
	known = len(l.blocks)
	free := 0 // blocks that the request shares and no other one holds
	for _, b := range l.blocks {
		if !p.Held(b) {
			free++
		}
	}
	if total-known > p.Room()-free {
		p.spare = append(p.spare, l.blocks)
		return lease{}, 0, false
	}
	for i, b := range l.blocks {
		p.item.Key, p.item.Offset = hashes[i], i
		p.Hold(b, &p.item, policy.Tick{})
	}
	for l.slots = 0; l.slots < total-known; l.slots++ {
		p.Reserve()
	}
	return l, known, true
}

// fill gives a slot of a lease the content that is the next block of its sequence. Of two blocks of equal content, computed at the same time,
// the first can be found.
func (p *pool) fill(l *lease, hash uint64) {
	if _, ok := p.Find(hash); ok {
		return
	}
	p.item.Key, p.item.Offset = hash, len(l.blocks)
	l.blocks = append(l.blocks, p.Fill(hash, &p.item, policy.Tick{}))
	l.slots--
}

// release ends a lease: the deepest block is released first, so that it is dropped first. Its slots without content, of an answer that the
// trace does not have or of what another request computed at the same time, wait to be dropped as others do, because an engine gives each full
// block a hash. Of each request one is only partly filled; vLLM takes it at once since 0.24, and in its turn before, as here.
func (p *pool) release(l lease) {
	for l.slots > 0 {
		p.made++
		p.unknown++
		p.fill(&l, p.made)
	}
	for i := len(l.blocks) - 1; i >= 0; i-- {
		p.Release(l.blocks[i], policy.Tick{})
	}
	p.spare = append(p.spare, l.blocks)
}

// found is how many blocks have content that a request can find.
func (p *pool) found() int { return p.Resident() - p.unknown }

// dropped is called with the hash of each block whose content is dropped.
func (p *pool) dropped(hash uint64) {
	if hash <= mostUnknown {
		p.unknown--
	}
}
