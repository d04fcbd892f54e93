package kvevents

import (
	"sync"

	"reprise/proxy/upstream/prefix"
)

// Sink gets what the events say about the blocks of a replica in terms of prefix chains.
type Sink interface {
	Removed(blocks []prefix.Block) // these are gone
	Cleared()                      // all are gone
}

// Bounds of what is remembered of one replica: 4 million tokens in blocks of 16, and those of the last of them that may end a prompt.
const (
	mostBlocks = 1 << 18
	mostFresh  = 1 << 14
)

// blocks follows the blocks of one engine. An engine's hashes cannot be computed here, as they are of tokens. Its blocks are matched with a
// prompt by their number: the prompt has so many tokens as its answer reports, and the engine has stored a chain of so many full blocks
// since the request was sent. Where several such chains were stored meanwhile, none is matched, and the model of the replica goes on alone.
type blocks struct {
	sink Sink

	mu      sync.Mutex // guards what follows
	known   map[hash]block
	fresh   map[int32][]hash // stored lately, by depth
	order   []int32          // of the depths in fresh, the oldest block first
	size    int              // tokens of a block
	batches uint64
	matched int64
}

type block struct {
	parent hash
	depth  int32 // of the chain that ends with it, in blocks; 0: unknown
	stored uint64
	ours   prefix.Block // 0: not matched
}

func newBlocks(sink Sink) *blocks {
	b := &blocks{sink: sink}
	b.forget()
	return b
}

// forget forgets all blocks. The caller must hold the lock, or be the only one.
func (b *blocks) forget() { b.known, b.fresh, b.order = map[hash]block{}, map[int32][]hash{}, nil }

// apply follows a batch of events.
func (b *blocks) apply(events []event) {
	var gone []prefix.Block
	cleared := false
	b.mu.Lock()
	b.batches++
	for i := range events {
		switch e := &events[i]; {
		case e.Kind == kindCleared:
			b.forget()
			gone, cleared = nil, true
		case !e.onDevice():
		case e.Kind == kindStored:
			b.store(e)
		case e.Kind == kindRemoved:
			gone = b.remove(e, gone)
		}
	}
	b.mu.Unlock()
	if cleared {
		b.sink.Cleared()
	}
	if len(gone) > 0 {
		b.sink.Removed(gone)
	}
}

func (b *blocks) store(e *event) {
	if b.size != e.BlockSize {
		b.forget() // another engine behind the same address
		b.size = e.BlockSize
	}
	depth, parent := int32(0), e.Parent
	if e.HasParent {
		depth = b.known[parent].depth
	}
	unknown := e.HasParent && depth == 0 // it was stored before the first event
	for _, h := range e.Hashes {
		if depth++; unknown {
			depth = 0
		}
		if _, ok := b.known[h]; !ok && len(b.known) < mostBlocks {
			b.known[h] = block{parent: parent, depth: depth, stored: b.batches}
			b.note(h, depth)
		}
		parent = h
	}
}

// note notes a block as one that may end a prompt.
func (b *blocks) note(h hash, depth int32) {
	if depth == 0 {
		return
	}
	b.fresh[depth] = append(b.fresh[depth], h)
	b.order = append(b.order, depth)
	for len(b.order) > mostFresh {
		oldest := b.order[0]
		b.order = b.order[1:]
		if list := b.fresh[oldest]; len(list) > 1 {
			b.fresh[oldest] = list[1:]
		} else {
			delete(b.fresh, oldest)
		}
	}
}

func (b *blocks) remove(e *event, gone []prefix.Block) []prefix.Block {
	for _, h := range e.Hashes {
		if k, ok := b.known[h]; ok {
			if k.ours != 0 {
				gone = append(gone, k.ours)
			}
			delete(b.known, h)
		}
	}
	return gone
}

// sent is the mark of a request that is sent now.
func (b *blocks) sent() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.batches
}

// answered names the blocks of a request with the chain c, whose prompt has so many tokens.
func (b *blocks) answered(mark uint64, c *prefix.Chain, tokens int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.size == 0 || tokens < b.size || len(c.Blocks) == 0 {
		return
	}
	var end hash
	found := 0
	for _, h := range b.fresh[int32(tokens/b.size)] {
		if k, ok := b.known[h]; ok && k.ours == 0 && k.stored > mark {
			end = h
			found++
		}
	}
	if found == 1 {
		b.matched++
		b.name(end, c, tokens)
	}
}

// name names the blocks of a chain that ends with h. Tokens are taken to be equally long in one prompt.
func (b *blocks) name(h hash, c *prefix.Chain, tokens int) {
	for {
		k, ok := b.known[h]
		if !ok || k.ours != 0 || k.depth == 0 {
			return
		}
		bytes := int(int64(k.depth) * int64(b.size) * int64(c.Bytes) / int64(tokens))
		if at := min(bytes/prefix.BlockBytes, len(c.Blocks)); at > 0 { // the last block of ours that ends within this one
			k.ours = c.Blocks[at-1]
			b.known[h] = k
		}
		if k.depth == 1 {
			return
		}
		h = k.parent
	}
}
