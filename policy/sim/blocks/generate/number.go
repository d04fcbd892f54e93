package generate

// tokens of a block of the Qwen traces.
const blockTokens = 16

// numbers gives blocks the numbers that follow the last given one.
type numbers struct{ next uint32 }

func (n *numbers) append(dst []uint32, count int) []uint32 {
	for range count {
		dst = append(dst, n.next)
		n.next++
	}
	return dst
}

// prefix is tokens that several sessions begin with. Its blocks are the whole ones, numbered when it is first used.
type prefix struct {
	tokens int32
	blocks []uint32
	user   uint32
}

// stream is a chain of count blocks that begins with those of p; the others are its own.
func (n *numbers) stream(p *prefix, count int) []uint32 {
	if p != nil && p.blocks == nil {
		p.blocks = n.append(make([]uint32, 0, p.tokens/blockTokens), int(p.tokens/blockTokens))
	}
	all := make([]uint32, 0, count)
	if p != nil {
		all = append(all, p.blocks[:min(count, len(p.blocks))]...)
	}
	return n.append(all, count-len(all))
}
