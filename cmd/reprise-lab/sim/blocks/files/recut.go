package files

import (
	"fmt"

	"reprise/cmd/reprise-lab/sim/blocks"
)

// Recut returns the trace in blocks of another size, a multiple or a divisor of its own; t stays as it is, and is returned where the size
// is the same. A trace that counts a last block which is not full does so after it too. Different
// blocks have no part in common, though their texts may begin alike: a trace with smaller blocks of its own would have some more hits.
func Recut(t *blocks.Trace, tokens int) (*blocks.Trace, error) {
	if tokens == t.Tokens {
		return t, nil
	}
	if tokens < 1 || tokens%t.Tokens != 0 && t.Tokens%tokens != 0 {
		return nil, fmt.Errorf("block size %d: want a multiple or a divisor of %d, the size in the trace", tokens, t.Tokens)
	}
	c := cutting{builder: newBuilder(Options{Tokens: tokens}), join: max(1, tokens/t.Tokens), parts: max(1, t.Tokens/tokens)}
	if t.Distinct*c.parts > MostDistinct {
		return nil, fmt.Errorf("block size %d: %d different blocks: want a size that makes at most %d", tokens, t.Distinct*c.parts, MostDistinct)
	}
	c.place = make([]uint32, t.Distinct*c.parts)
	c.trace.Name, c.trace.Generated, c.trace.Note, c.trace.Kinds = t.Name, t.Generated, t.Note, t.Kinds
	for i := range t.Requests {
		if err := c.request(t.Requests[i], t.Tokens); err != nil {
			return nil, fmt.Errorf("request %d: %w", i+1, err)
		}
	}
	return c.finish()
}

// cutting makes one block of join blocks, or parts blocks of one.
type cutting struct {
	*builder
	join, parts int
	place       []uint32 // of the last of the blocks that are joined, or of a part: its new number, from 1
	all, chain  []uint32
}

func (c *cutting) request(r blocks.Request, old int) error {
	whole := len(r.Blocks)*old <= int(r.Prompt) // no block that is not full
	c.all = append(append(c.all[:0], r.Blocks...), r.Filled...)
	c.chain = c.chain[:0]
	for i, number := range c.all {
		if c.join > 1 {
			if (i+1)%c.join == 0 || !whole && i == len(r.Blocks)-1 {
				c.add1(int(number))
			}
			continue
		}
		for part := range c.parts {
			if whole || i*old+part*c.o.Tokens < int(r.Prompt) || i >= len(r.Blocks) {
				c.add1(int(number)*c.parts + part)
			}
		}
	}
	prompt := len(r.Blocks) / c.join * c.parts
	if !whole {
		prompt = (int(r.Prompt) + c.o.Tokens - 1) / c.o.Tokens
	}
	return c.addChain(r, r.After, c.chain, min(prompt, len(c.chain)))
}

// add1 appends a block to chain.
func (c *cutting) add1(at int) {
	if c.place[at] == 0 {
		c.trace.Distinct++
		c.place[at] = uint32(c.trace.Distinct)
	}
	c.chain = append(c.chain, c.place[at]-1)
}
