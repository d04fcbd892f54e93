package store

// inside counts the bytes of entries without their answers, for a store with Options.Outside.
type inside struct {
	dim   int // length of a vector, which each entry with a prompt has; 0 until one was seen
	bytes int64
}

// add counts r, which has no answer any more, and a vector of dim numbers.
func (i *inside) add(r *resident, dim int) {
	i.dim = max(i.dim, dim)
	i.bytes += i.of(r)
}

func (i *inside) drop(r *resident) { i.bytes -= i.of(r) }

func (i *inside) of(r *resident) int64 {
	if r.Prompt == "" {
		return r.footprint(0)
	}
	return r.footprint(i.dim)
}

// residentBytes returns how many bytes of the ledger are in memory.
func (c *core) residentBytes() int64 {
	if c.opt.Outside {
		return max(c.inside.bytes, 0) + int64(aliasSize*c.table.aliases)
	}
	return c.keeper.ledger.Bytes()
}
