package store

// inside counts what the entries take without their answers, for a store whose answers are kept elsewhere.
type inside struct {
	dim   int // length of a vector; 0: none was seen. An entry with a prompt has one
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

// residentBytes is how many of the bytes of the ledger are in memory.
func (c *core) residentBytes() int64 {
	if c.opt.Outside {
		return max(c.inside.bytes, 0) + int64(aliasSize*c.table.aliases)
	}
	return c.keeper.ledger.Bytes()
}
