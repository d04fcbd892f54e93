package enginesim

import (
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"slices"
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

// partial reports whether the sequence ends inside a block.
func (c *Chain) partial() bool { return len(c.rest) > 0 }

func hashBlock(parent BlockHash, tokens []Token) BlockHash {
	var buf [sha256.Size + 8*BlockTokens]byte
	copy(buf[:], parent[:])
	for i, t := range tokens {
		binary.LittleEndian.PutUint64(buf[sha256.Size+8*i:], uint64(t))
	}
	return sha256.Sum256(buf[:])
}

// Blocks is the block pool of one engine under vLLM's rule: content that no request uses is dropped in the order in which it was released,
// of one request the deepest block first, and slots without content are taken before any is dropped. Since 0.24 vLLM does the latter too:
// BlockPool.free_blocks puts blocks without a hash at the front of its free_block_queue. Of two equal blocks that are filled at the same time
// vLLM keeps both findable, and here the second has no content. It holds no lock.
type Blocks struct {
	capacity  int
	content   map[BlockHash]*block
	idle      list.List // of *block: those that no request holds, in the order of their release
	slots     int       // that requests hold without content
	evictions int64
	watched   bool
	changes   []change // since they were taken last, where they are watched
}

// block is a block whose content can be found.
type block struct {
	hash    BlockHash
	holders int
	waits   *list.Element // its place in idle while it has no holder
}

// change is a block that was stored or removed.
type change struct {
	hash, parent BlockHash
	removed      bool
	rooted       bool // it is the first one of its chain
}

// Lease is the blocks that one running request holds.
type Lease struct {
	blocks []*block // with content, in the order of the tokens
	slots  int      // without: the open one, and those whose content another request filled at the same time
	full   int      // blocks of the sequence that are full
	open   bool     // the last block is partly filled
	short  bool     // no slot was free for the next one: the rest of the sequence is not kept
	last   BlockHash
}

// NewBlocks returns a pool of n empty blocks.
func NewBlocks(n int) *Blocks { return &Blocks{capacity: n, content: map[BlockHash]*block{}} }

// Begin takes the blocks of a prompt of the given number of tokens whose full blocks are hashes. It returns how many of the tokens need no
// prefill: whole blocks of the longest stored prefix, and never the whole prompt, because the last token has to be computed to get the first
// one of the answer. Without a free block the rest of the sequence is not stored.
func (b *Blocks) Begin(hashes []BlockHash, tokens int) (*Lease, int) {
	l := &Lease{}
	known := b.extend(l, hashes)
	b.grow(l, nil, tokens%BlockTokens > 0)
	return l, min(known, max(0, tokens-1)/BlockTokens) * BlockTokens
}

// grow adds the blocks that further tokens filled, and a partly filled one. The first of them is the partly filled block of
// an earlier call.
func (b *Blocks) grow(l *Lease, hashes []BlockHash, partial bool) {
	if l.open && len(hashes) > 0 {
		l.open = false
		b.close(l, hashes[0])
		hashes = hashes[1:]
	}
	if !l.short && len(hashes) > 0 {
		b.extend(l, hashes)
	}
	if partial && !l.open {
		l.open = b.take(l)
	}
}

// End releases the blocks, the deepest first, so that of one sequence the deepest is evicted first and the first last.
func (b *Blocks) End(l *Lease) {
	for _, held := range slices.Backward(l.blocks) {
		if held.holders--; held.holders == 0 {
			held.waits = b.idle.PushBack(held)
		}
	}
	b.slots -= l.slots
	l.blocks, l.slots, l.open = nil, 0, false
}

// Used is the number of blocks whose content can be found again, running or free.
func (b *Blocks) Used() int { return len(b.content) }

// close gives the open block of l its content. Of two blocks of equal content, filled at the same time, the first is stored.
func (b *Blocks) close(l *Lease, h BlockHash) {
	if b.content[h] == nil {
		l.blocks = append(l.blocks, b.fill(l, h, l.last, l.full == 0))
	}
	l.last = h
	l.full++
}

// extend holds the blocks that are there, takes slots for the others as far as there are any, and fills them. It returns how many were there,
// from the first without a gap.
func (b *Blocks) extend(l *Lease, hashes []BlockHash) (known int) {
	found := make([]*block, len(hashes))
	missing := 0
	for i, h := range hashes {
		if found[i] = b.content[h]; found[i] != nil {
			b.hold(found[i])
		} else {
			missing++
		}
		if missing == 0 {
			known = i + 1
		}
	}
	taken := 0 // before any is filled, so that what is dropped for them is one change, and what is stored another
	for taken < missing && b.take(l) {
		taken++
	}
	for i, h := range hashes {
		if found[i] == nil && taken > 0 {
			taken--
			found[i] = b.fill(l, h, l.last, l.full == 0)
		}
		if found[i] != nil {
			l.blocks = append(l.blocks, found[i])
		}
		l.last = h
		l.full++
	}
	return known
}

func (b *Blocks) hold(held *block) {
	if held.holders == 0 {
		b.idle.Remove(held.waits)
	}
	held.holders++
}

// take takes a slot for l: an empty one, or else it evicts the content that was released first.
func (b *Blocks) take(l *Lease) bool {
	first := b.idle.Front()
	switch {
	case l.short || len(b.content)+b.slots == b.capacity && first == nil:
		l.short = true
		return false
	case len(b.content)+b.slots == b.capacity:
		dropped := b.idle.Remove(first).(*block)
		delete(b.content, dropped.hash)
		b.evictions++
		b.changed(change{hash: dropped.hash, removed: true})
	}
	b.slots++
	l.slots++
	return true
}

// fill gives a slot of l its content.
func (b *Blocks) fill(l *Lease, h, parent BlockHash, rooted bool) *block {
	b.slots--
	l.slots--
	b.content[h] = &block{hash: h, holders: 1}
	b.changed(change{hash: h, parent: parent, rooted: rooted})
	return b.content[h]
}

func (b *Blocks) changed(c change) {
	if b.watched {
		b.changes = append(b.changes, c)
	}
}
