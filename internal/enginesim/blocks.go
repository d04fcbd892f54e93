package enginesim

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"reprise/policy"
	"reprise/policy/registry"
	"reprise/policy/sim/blocks"
)

// BlockTokens is the number of tokens in one KV block (vLLM's default).
const BlockTokens = 16

// BlockHash names a full block together with everything before it.
type BlockHash [sha256.Size]byte

// Chain turns a growing sequence of tokens into the hashes of its full blocks: h(i) = SHA-256(h(i-1) ‖ tokens of block i).
type Chain struct {
	last BlockHash
	rest []Token // tokens of the block that is not yet full
}

// NewChain starts a sequence. All hashes depend on the salt: sequences with different salts share no block.
func NewChain(salt string) *Chain {
	c := &Chain{}
	if salt != "" {
		c.last = sha256.Sum256([]byte(salt))
	}
	return c
}

// Add appends tokens and returns the hashes of the blocks that they filled.
func (c *Chain) Add(tokens []Token) []BlockHash {
	filled := make([]BlockHash, 0, (len(c.rest)+len(tokens))/BlockTokens)
	for len(tokens) > 0 {
		n := min(BlockTokens-len(c.rest), len(tokens))
		c.rest = append(c.rest, tokens[:n]...)
		tokens = tokens[n:]
		if len(c.rest) == BlockTokens {
			c.last = hashBlock(c.last, c.rest)
			c.rest = c.rest[:0]
			filled = append(filled, c.last)
		}
	}
	return filled
}

// Partial reports whether the sequence ends inside a block.
func (c *Chain) Partial() bool { return len(c.rest) > 0 }

func hashBlock(parent BlockHash, tokens []Token) BlockHash {
	var buf [sha256.Size + 8*BlockTokens]byte
	copy(buf[:], parent[:])
	for i, t := range tokens {
		binary.LittleEndian.PutUint64(buf[sha256.Size+8*i:], uint64(t))
	}
	return sha256.Sum256(buf[:])
}

// Blocks is the block pool of one engine: a blocks.Named whose keys are hashes of content, with partly filled blocks and a log of changes.
// Under DefaultPolicy its rule is that of vLLM: content that no request uses is dropped in the order in which it was released, of one request
// the deepest first, and slots without content are taken before any is dropped. So does vLLM since 0.24: BlockPool.free_blocks puts blocks
// without a hash at the front of its free_block_queue; before, they waited there as if they had content. Of two equal blocks that are filled
// at the same time vLLM keeps both findable, and here the second has no content. It holds no lock.
type Blocks struct {
	cache   *blocks.Named[BlockHash]
	watched bool
	changes []change // since they were taken last, where they are watched
	missing []int    // of extend
}

// change is a block that was stored or removed.
type change struct {
	hash, parent BlockHash
	removed      bool
	rooted       bool // it is the first one of its chain
}

// Lease is the blocks that one running request holds.
type Lease struct {
	item   policy.Item // what its blocks have in common
	blocks []uint32    // with content, in the order of the tokens
	slots  int         // without: the open one, and those whose content another request filled at the same time
	full   int         // blocks of the sequence that are full
	open   bool        // the last block is partly filled
	short  bool        // no slot was free for the next one: the rest of the sequence is not kept
	last   BlockHash
}

// none is the number of no block.
const none = ^uint32(0)

// DefaultPolicy is that of vLLM.
const DefaultPolicy = "lru"

// NewBlocks returns a pool of n empty blocks, whose content is dropped by a policy of package registry.
func NewBlocks(n int, name string) (*Blocks, error) {
	e, err := registry.New(name, policy.Options{Capacity: n})
	if err != nil {
		return nil, err
	}
	b := &Blocks{cache: blocks.NewNamed[BlockHash](n, e)}
	b.cache.Dropped = func(h BlockHash) { b.changed(change{hash: h, removed: true}) }
	return b, nil
}

// Begin takes the blocks of a prompt of the given number of tokens whose full blocks are hashes; category is policy.CategoryOf the request.
// It returns how many of the tokens need no prefill: whole blocks of the longest stored prefix, and never the whole prompt, because the last
// token has to be computed to get the first one of the answer. Without a free block the rest of the sequence is not stored.
func (b *Blocks) Begin(hashes []BlockHash, tokens int, category uint32, at policy.Tick) (*Lease, int) {
	l := &Lease{blocks: make([]uint32, 0, len(hashes))}
	l.item = policy.Item{Category: category, Size: BlockTokens, Cost: BlockTokens}
	known := b.extend(l, hashes, at)
	b.Grow(l, nil, tokens%BlockTokens > 0, at)
	return l, min(known, max(0, tokens-1)/BlockTokens) * BlockTokens
}

// Grow adds the blocks that further tokens filled, and a partly filled one. The first of them is the partly filled block of
// an earlier call.
func (b *Blocks) Grow(l *Lease, hashes []BlockHash, partial bool, at policy.Tick) {
	if l.open && len(hashes) > 0 {
		l.open = false
		b.close(l, hashes[0], at)
		hashes = hashes[1:]
	}
	if !l.short && len(hashes) > 0 {
		b.extend(l, hashes, at)
	}
	if partial && !l.open {
		l.open = b.take(l)
	}
}

// End releases the blocks, the deepest first, so that of one sequence the deepest is evicted first and the first last.
func (b *Blocks) End(l *Lease, at policy.Tick) {
	for i := len(l.blocks) - 1; i >= 0; i-- {
		b.cache.Release(l.blocks[i], at)
	}
	b.cache.Free(l.slots)
	l.blocks, l.slots, l.open = nil, 0, false
}

// Used is the number of blocks whose content can be found again, running or free.
func (b *Blocks) Used() int { return b.cache.Resident() }

// Evictions counts the blocks whose content was replaced.
func (b *Blocks) Evictions() int64 { return b.cache.Evictions() }

// close gives the open block of l its content. Of two blocks of equal content, filled at the same time, the first is stored.
func (b *Blocks) close(l *Lease, h BlockHash, at policy.Tick) {
	if _, ok := b.cache.Find(h); !ok {
		l.blocks = append(l.blocks, b.cache.Fill(h, l.block(&h, l.full), at))
		l.slots--
		b.stored(h, l.last, l.full)
	}
	l.last = h
	l.full++
}

// extend holds the blocks that are there, takes slots for the others as far as there are any, and fills them; the deepest first, so that of
// those that are equal for a policy the deepest is evicted first. It returns how many were there, from the first without a gap.
func (b *Blocks) extend(l *Lease, hashes []BlockHash, at policy.Tick) (known int) {
	known = len(hashes)
	first := len(l.blocks)
	l.blocks = slices.Grow(l.blocks, len(hashes))[:first+len(hashes)]
	missing := b.missing[:0]
	for i := len(hashes) - 1; i >= 0; i-- {
		if block, ok := b.cache.Find(hashes[i]); ok {
			b.cache.Hold(block, l.block(&hashes[i], l.full+i), at)
			l.blocks[first+i] = block
		} else {
			l.blocks[first+i] = none
			missing = append(missing, i)
			known = i
		}
	}
	b.missing = missing
	kept := missing[max(0, len(missing)-b.cache.Room()):]
	for _, i := range kept {
		b.cache.Reserve()
		l.blocks[first+i] = b.cache.Fill(hashes[i], l.block(&hashes[i], l.full+i), at)
	}
	b.log(l, hashes, kept)
	if len(kept) < len(missing) {
		l.short = true
		l.blocks = slices.DeleteFunc(l.blocks, func(block uint32) bool { return block == none })
	}
	if len(hashes) > 0 {
		l.last = hashes[len(hashes)-1]
		l.full += len(hashes)
	}
	return known
}

// log adds the blocks at places that were filled, the deepest first, to the changes in the order of the chain.
func (b *Blocks) log(l *Lease, hashes []BlockHash, filled []int) {
	for n := len(filled) - 1; n >= 0 && b.watched; n-- {
		i, parent := filled[n], l.last
		if i > 0 {
			parent = hashes[i-1]
		}
		b.stored(hashes[i], parent, l.full+i)
	}
}

// take reserves a slot for l.
func (b *Blocks) take(l *Lease) bool {
	if l.short || !b.cache.Reserve() {
		l.short = true
		return false
	}
	l.slots++
	return true
}

// block describes block i of the sequence, until the next call.
func (l *Lease) block(h *BlockHash, i int) *policy.Item {
	l.item.Key, l.item.Offset = binary.LittleEndian.Uint64(h[:]), i
	return &l.item
}

// stored logs block i of a sequence.
func (b *Blocks) stored(h, parent BlockHash, i int) {
	b.changed(change{hash: h, parent: parent, rooted: i == 0})
}

func (b *Blocks) changed(c change) {
	if b.watched {
		b.changes = append(b.changes, c)
	}
}
