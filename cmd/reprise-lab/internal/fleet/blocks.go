package fleet

// pool is the KV blocks of one engine under vLLM's rule: blocks that no request uses are in one free queue, the least recently used first,
// and keep their content until they are taken. enginesim.Blocks has the same rule with cryptographic hashes; here a block gets its content
// only when the step that computes it begins, so that a request cannot use what another has only reserved.
type pool struct {
	slots      []slot
	held       map[uint64]int32 // of each content, its slot
	head, tail int32            // of the free queue
	free       int
	spare      [][]int32 // the leases that ended, for use again
}

type slot struct {
	hash       uint64
	named      bool
	refs       int32
	prev, next int32
}

const end = int32(-1)

func newPool(blocks int) *pool {
	p := &pool{slots: make([]slot, blocks), held: make(map[uint64]int32), head: end, tail: end}
	for i := range p.slots {
		p.push(int32(i))
	}
	return p
}

// match is the number of hashes, from the first, whose blocks are there.
func (p *pool) match(hashes []uint64) int {
	for i, h := range hashes {
		if _, ok := p.held[h]; !ok {
			return i
		}
	}
	return len(hashes)
}

// lease takes blocks for a request: those that are there for the first of hashes, then free ones up to total. It returns how many were
// there, and false if the free ones do not suffice; then it has changed nothing.
func (p *pool) lease(hashes []uint64, total int) (blocks []int32, known int, ok bool) {
	known = p.match(hashes)
	reserved := 0 // free blocks that the request shares
	for _, h := range hashes[:known] {
		if p.slots[p.held[h]].refs == 0 {
			reserved++
		}
	}
	if total-known > p.free-reserved {
		return nil, 0, false
	}
	if n := len(p.spare); n > 0 {
		blocks, p.spare = p.spare[n-1][:0], p.spare[:n-1]
	}
	for _, h := range hashes[:known] {
		id := p.held[h]
		if p.slots[id].refs == 0 {
			p.unlink(id)
		}
		p.slots[id].refs++
		blocks = append(blocks, id)
	}
	for len(blocks) < total {
		blocks = append(blocks, p.take())
	}
	return blocks, known, true
}

// name gives a leased block its content. Of two blocks of equal content, computed at the same time, the first can be found.
func (p *pool) name(id int32, hash uint64) {
	if _, ok := p.held[hash]; ok || p.slots[id].named {
		return
	}
	p.slots[id].hash, p.slots[id].named = hash, true
	p.held[hash] = id
}

// release ends a lease: the deepest block is released first, so that it is taken first.
func (p *pool) release(blocks []int32) {
	for i := len(blocks) - 1; i >= 0; i-- {
		id := blocks[i]
		if p.slots[id].refs--; p.slots[id].refs == 0 {
			p.push(id)
		}
	}
	p.spare = append(p.spare, blocks)
}

// take removes the first free block, which exists, from the queue, and drops its content.
func (p *pool) take() int32 {
	id := p.head
	p.unlink(id)
	s := &p.slots[id]
	if s.named {
		delete(p.held, s.hash)
		s.named = false
	}
	s.refs = 1
	return id
}

func (p *pool) push(id int32) {
	p.slots[id].prev, p.slots[id].next = p.tail, end
	if p.tail == end {
		p.head = id
	} else {
		p.slots[p.tail].next = id
	}
	p.tail = id
	p.free++
}

func (p *pool) unlink(id int32) {
	s := &p.slots[id]
	if s.prev == end {
		p.head = s.next
	} else {
		p.slots[s.prev].next = s.next
	}
	if s.next == end {
		p.tail = s.prev
	} else {
		p.slots[s.next].prev = s.prev
	}
	p.free--
}
