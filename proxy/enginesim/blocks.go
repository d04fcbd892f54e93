package enginesim

import (
	"crypto/sha256"
	"encoding/binary"
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

// Blocks is the block pool of one engine under vLLM's rules: every block that no request uses is in one free queue, the least
// recently used first, and keeps its content until it is taken for other content. It holds no lock.
type Blocks struct {
	pool      []block
	byHash    map[BlockHash]int32
	head      int32 // the free block that is taken next; none when no block is free
	tail      int32
	evictions int64
	watched   bool
	changes   []change // since they were taken last, where they are watched
}

// change is a block that was stored or removed.
type change struct {
	hash, parent BlockHash
	removed      bool
	rooted       bool // it is the first one of its chain
}

type block struct {
	hash       BlockHash
	hashed     bool // the content can be found again
	refs       int32
	prev, next int32 // neighbours in the free queue
}

const none = int32(-1)

// Lease is the blocks that one running request holds, in the order of its tokens.
type Lease struct {
	blocks []int32
	open   bool      // the last block is partly filled
	short  bool      // no block was free for the next one: the rest of the sequence is not kept
	last   BlockHash // of the last full block
	begun  bool      // there is one
}

// NewBlocks returns a pool of n empty blocks.
func NewBlocks(n int) *Blocks {
	b := &Blocks{pool: make([]block, n), byHash: make(map[BlockHash]int32), head: none, tail: none}
	for i := range b.pool {
		b.push(int32(i))
	}
	return b
}

// Begin takes the blocks of a prompt of the given number of tokens whose full blocks are hashes. It returns how many of the
// tokens need no prefill: whole blocks of the longest stored prefix, and never the whole prompt, because the last token has
// to be computed to get the first one of the answer. Without a free block the rest of the sequence is not stored.
func (b *Blocks) Begin(hashes []BlockHash, tokens int) (*Lease, int) {
	l := &Lease{}
	known := 0
	for known < len(hashes) && b.share(l, hashes[known]) {
		l.last, l.begun = hashes[known], true
		known++
	}
	b.Grow(l, hashes[known:], tokens%BlockTokens > 0)
	return l, min(known, max(0, tokens-1)/BlockTokens) * BlockTokens
}

// Grow adds the blocks that further tokens filled, and a partly filled one. The first of them is the partly filled block of
// an earlier call.
func (b *Blocks) Grow(l *Lease, hashes []BlockHash, partial bool) {
	for _, h := range hashes {
		switch {
		case l.short:
			return
		case l.open:
			b.name(l, h)
			l.open = false
		case !b.share(l, h) && b.take(l):
			b.name(l, h)
		}
		l.last, l.begun = h, true
	}
	if partial && !l.open {
		l.open = b.take(l)
	}
}

// End releases the blocks, the deepest first, so that of one sequence the deepest is evicted first and the first last.
func (b *Blocks) End(l *Lease) {
	for i := len(l.blocks) - 1; i >= 0; i-- {
		id := l.blocks[i]
		b.pool[id].refs--
		if b.pool[id].refs == 0 {
			b.push(id)
		}
	}
	l.blocks, l.open = nil, false
}

// Used is the number of blocks whose content can be found again, running or free.
func (b *Blocks) Used() int { return len(b.byHash) }

// Evictions counts the blocks whose content was replaced.
func (b *Blocks) Evictions() int64 { return b.evictions }

// share adds the block of hash h to l if there is one.
func (b *Blocks) share(l *Lease, h BlockHash) bool {
	id, ok := b.byHash[h]
	if !ok {
		return false
	}
	if b.pool[id].refs == 0 {
		b.unlink(id)
	}
	b.pool[id].refs++
	l.blocks = append(l.blocks, id)
	return true
}

// take adds the first free block to l and drops its content.
func (b *Blocks) take(l *Lease) bool {
	id := b.head
	if id == none || l.short {
		l.short = true
		return false
	}
	b.unlink(id)
	blk := &b.pool[id]
	if blk.hashed {
		delete(b.byHash, blk.hash)
		blk.hashed = false
		b.evictions++
		if b.watched {
			b.changes = append(b.changes, change{hash: blk.hash, removed: true})
		}
	}
	blk.refs = 1
	l.blocks = append(l.blocks, id)
	return true
}

// name stores the last block of l under its hash. Of two blocks of equal content, filled at the same time, the first is stored.
func (b *Blocks) name(l *Lease, h BlockHash) {
	if _, ok := b.byHash[h]; ok {
		return
	}
	id := l.blocks[len(l.blocks)-1]
	b.pool[id].hash, b.pool[id].hashed = h, true
	b.byHash[h] = id
	if b.watched {
		b.changes = append(b.changes, change{hash: h, parent: l.last, rooted: !l.begun})
	}
}

func (b *Blocks) push(id int32) {
	b.pool[id].prev, b.pool[id].next = b.tail, none
	if b.tail == none {
		b.head = id
	} else {
		b.pool[b.tail].next = id
	}
	b.tail = id
}

func (b *Blocks) unlink(id int32) {
	prev, next := b.pool[id].prev, b.pool[id].next
	if prev == none {
		b.head = next
	} else {
		b.pool[prev].next = next
	}
	if next == none {
		b.tail = prev
	} else {
		b.pool[next].prev = prev
	}
}
