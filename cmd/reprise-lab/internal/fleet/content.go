package fleet

import "reprise/proxy/upstream/prefix"

// runs is a prompt of which only the identities of its blocks are given.
type runs struct {
	salt     uint64 // of what its identities are local to
	unit     int    // tokens of a block
	tokens   int    // of the prompt, whose last block may be partly filled
	scaffold int    // blocks of the tools and the system prompt, where that is given
	list     []span
}

// span is consecutive identities.
type span struct{ first, count int }

// each calls f with the hash of the prompt's beginning up to each multiple of step tokens, and that number of tokens.
func (r *runs) each(step int, f func(hash uint64, tokens int)) {
	step = min(step, r.unit)
	h, at := link(r.salt, 1), 0
	for _, s := range r.list {
		for id := s.first; id < s.first+s.count; id++ {
			for part := range r.unit / step {
				h = link(h, uint64(id)<<8|uint64(part))
				if at += step; at > r.tokens {
					return
				}
				f(h, at)
			}
		}
	}
}

func (r *runs) blocks(dst []uint64, tokens int) []uint64 {
	r.each(tokens, func(h uint64, at int) {
		if at%tokens == 0 {
			dst = append(dst, h)
		}
	})
	return dst
}

func (r *runs) chain(c *prefix.Chain) {
	c.Begin(0)
	c.Bytes = r.tokens * prefix.BlockBytes / prefix.BlockTokens
	r.each(prefix.BlockTokens, func(h uint64, at int) {
		if at%prefix.BlockTokens == 0 {
			c.Blocks = append(c.Blocks, prefix.Block(h))
		}
	})
	if n := len(c.Blocks); n > 0 {
		c.Shared = min(r.scaffold*r.unit*prefix.BlockBytes/prefix.BlockTokens, c.Bytes)
		shared := min(max(r.scaffold*r.unit/prefix.BlockTokens, 1), n)
		c.Scaffold, c.Opening = c.Blocks[shared-1], c.Blocks[min(shared, n-1)]
	}
}

// text is a prompt whose text is given.
type text struct {
	engine            []uint64 // its full blocks of textUnit tokens
	proxy             []prefix.Block
	bytes, shared     int
	scaffold, opening prefix.Block
}

// textUnit is the size of the blocks that are kept of a text, in tokens.
const textUnit = 16

func (t *text) blocks(dst []uint64, tokens int) []uint64 {
	for i := tokens/textUnit - 1; i < len(t.engine); i += tokens / textUnit {
		dst = append(dst, t.engine[i])
	}
	return dst
}

func (t *text) chain(c *prefix.Chain) {
	c.Begin(0)
	c.Blocks = append(c.Blocks, t.proxy...)
	c.Bytes, c.Shared, c.Scaffold, c.Opening = t.bytes, t.shared, t.scaffold, t.opening
}

// copied is a prompt of a copy of its session: equal to the original up to where all sessions are equal, and then different.
type copied struct {
	of     content
	salt   uint64
	shared int // tokens
}

func (p *copied) blocks(dst []uint64, tokens int) []uint64 {
	from := len(dst) + p.shared/tokens
	dst = p.of.blocks(dst, tokens)
	for i := from; i < len(dst); i++ {
		dst[i] = link(dst[i], p.salt)
	}
	return dst
}

func (p *copied) chain(c *prefix.Chain) {
	p.of.chain(c)
	for i := p.shared / prefix.BlockTokens; i < len(c.Blocks); i++ {
		c.Blocks[i] = prefix.Block(link(uint64(c.Blocks[i]), p.salt))
	}
	c.Opening = prefix.Block(link(uint64(c.Opening), p.salt))
}
