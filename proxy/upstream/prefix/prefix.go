// Package prefix names what a KV cache can reuse of a request: its prefix chain, the chained hashes of equal blocks of text. An engine
// hashes blocks of tokens, which only it can count; 256 bytes of text count as 64 tokens here. Two requests share the KV blocks of a
// prefix only if they share its text, so equal chains are a good model of equal blocks.
package prefix

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// The size of a block, in bytes of text and in the tokens as which it counts.
const (
	BlockBytes  = 256
	BlockTokens = 64
)

// Block names a block of text together with everything before it.
type Block uint64

// Kind is what a segment of a request holds.
type Kind uint8

// The kinds of segments, in the order in which an engine renders them.
const (
	Tools Kind = iota + 1
	System
	Message
)

// Chain is the prefix chain of one request. It can be used again after Begin, without allocation. It must not be copied while it is built.
type Chain struct {
	Blocks   []Block // of the full blocks
	Bytes    int     // of text, with that of a last block which is not full
	Scaffold Block   // of the tools and the system prompt: what all requests of one application share
	Opening  Block   // of the scaffold and the first message: what all requests of one conversation share
	Shared   int     // bytes of the scaffold

	seed  uint64
	last  Block
	rest  [BlockBytes]byte // of the block that is not full
	first bool             // a message was added
}

// Begin empties the chain. All blocks depend on the seed: requests with different seeds share none.
func (c *Chain) Begin(seed uint64) {
	c.Blocks, c.Bytes, c.seed, c.last, c.first = c.Blocks[:0], 0, seed, Block(seed), false
	c.Shared = 0
	c.Scaffold, c.Opening = c.last, c.last
}

// Add appends a segment.
func (c *Chain) Add(kind Kind, text []byte) {
	whole := xxhash.Sum64(text)
	if kind != Message {
		c.Scaffold = link(c.Scaffold, whole)
		c.Opening = c.Scaffold
		c.Shared += len(text)
	} else if !c.first {
		c.first, c.Opening = true, link(c.Scaffold, whole)
	}
	for len(text) > 0 {
		n := copy(c.rest[c.Bytes%BlockBytes:], text)
		text = text[n:]
		if c.Bytes += n; c.Bytes%BlockBytes == 0 {
			c.last = link(c.last, xxhash.Sum64(c.rest[:]))
			c.Blocks = append(c.Blocks, c.last)
		}
	}
}

// Tokens is about how many tokens the request has.
func (c *Chain) Tokens() int { return c.Bytes * BlockTokens / BlockBytes }

func link(parent Block, own uint64) Block {
	var both [16]byte
	binary.LittleEndian.PutUint64(both[:], uint64(parent))
	binary.LittleEndian.PutUint64(both[8:], own)
	return Block(xxhash.Sum64(both[:]))
}
