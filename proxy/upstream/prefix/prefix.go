// Package prefix names what a KV cache can reuse of a request: its prefix chain, the chained hashes of equal blocks of text. An engine
// hashes blocks of tokens, which only it can count; 256 bytes of text count as 64 tokens here. Two requests share the KV blocks of a
// prefix only if they share its text, so equal chains are a good model of equal blocks.
//
// A [Chooser] chooses the replica of a request: by the prefix that it should hold, by its load, or by turns. A [Fleet] keeps what is known of
// each replica. The package has no clock and no goroutine, so that a simulation and the proxy run the same code.
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

	last Block
	rest [BlockBytes]byte // of the block that is not full
}

// Begin empties the chain. All blocks depend on the seed: requests with different seeds share none.
func (c *Chain) Begin(seed uint64) {
	c.Blocks, c.Bytes, c.Shared, c.last = c.Blocks[:0], 0, 0, Block(seed)
	c.Scaffold, c.Opening = c.last, c.last
}

// Add appends a segment.
func (c *Chain) Add(kind Kind, text []byte) {
	switch {
	case kind != Message:
		c.Scaffold = link(c.Scaffold, xxhash.Sum64(text))
		c.Opening = c.Scaffold
		c.Shared += len(text)
	case c.Opening == c.Scaffold:
		c.Opening = link(c.Scaffold, xxhash.Sum64(text))
	}
	if begun := c.Bytes % BlockBytes; begun > 0 {
		n := copy(c.rest[begun:], text)
		text = text[n:]
		c.Bytes += n
		if begun+n < BlockBytes {
			return
		}
		c.full(c.rest[:])
	}
	for ; len(text) >= BlockBytes; text = text[BlockBytes:] {
		c.Bytes += BlockBytes
		c.full(text[:BlockBytes])
	}
	c.Bytes += copy(c.rest[:], text)
}

// full appends a block of text.
func (c *Chain) full(text []byte) {
	c.last = link(c.last, xxhash.Sum64(text))
	c.Blocks = append(c.Blocks, c.last)
}

// Tokens is about how many tokens the request has.
func (c *Chain) Tokens() int { return c.Bytes * BlockTokens / BlockBytes }

// Seed returns a seed that depends on all parts, such as a secret, a model and a tenant.
func Seed(parts ...string) uint64 {
	var seed Block
	for _, part := range parts {
		seed = link(seed, xxhash.Sum64String(part))
	}
	return uint64(seed)
}

func link(parent Block, own uint64) Block {
	var both [16]byte
	binary.LittleEndian.PutUint64(both[:], uint64(parent))
	binary.LittleEndian.PutUint64(both[8:], own)
	return Block(xxhash.Sum64(both[:]))
}
