package demo

import (
	"container/list"
	"crypto/sha256"
	"slices"
	"strings"
	"sync"
)

// BlockTokens is the number of tokens of a block of an engine's cache, as in vLLM.
const BlockTokens = 16

// block identifies a block of tokens together with everything before it.
type block [sha256.Size]byte

// blocksOf returns the full blocks of a prompt. Prompts with different salts share none.
func blocksOf(salt string, tokens []string) (all []block) {
	last := sha256.Sum256([]byte(salt))
	for full := range slices.Chunk(tokens, BlockTokens) {
		if len(full) == BlockTokens {
			last = sha256.Sum256([]byte(string(last[:]) + strings.Join(full, "\x00")))
			all = append(all, last)
		}
	}
	return all
}

// prefixes is the prefix cache of an engine: the blocks that were used last.
type prefixes struct {
	capacity int

	mu     sync.Mutex // protects what follows
	at     map[block]*list.Element
	recent list.List // of block, the last used first
}

func newPrefixes(capacity int) *prefixes {
	return &prefixes{capacity: capacity, at: map[block]*list.Element{}}
}

// touch uses the blocks of a prompt, and returns how many of them were there, from the first on. Of one prompt the deepest block counts as
// used first, so that it is dropped first.
func (p *prefixes) touch(blocks []block) (known int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for known < len(blocks) && p.at[blocks[known]] != nil {
		known++
	}
	for _, b := range slices.Backward(blocks) {
		if e := p.at[b]; e != nil {
			p.recent.MoveToFront(e)
		} else {
			p.at[b] = p.recent.PushFront(b)
		}
	}
	for len(p.at) > p.capacity {
		delete(p.at, p.recent.Remove(p.recent.Back()).(block))
	}
	return known
}
