package sim

import "reprise/policy"

// rank is the place of a resident in the order of eviction: least first, then by then, then by id.
type rank struct {
	first, then int64
	id          policy.ID
}

// ranks is a 4-ary min-heap of the residents with an index of their positions.
type ranks struct {
	index map[policy.ID]uint32 // slot
	heap  []seat
	pos   []uint32 // of each slot in heap
	spare []uint32 // unused slots
}

// seat is a place in the heap. While it is sifted it has the slot of the resident, so that only pos is written and not the
// map.
type seat struct {
	rank
	slot uint32
}

const arity = 4

func (r *ranks) has(id policy.ID) bool {
	_, ok := r.index[id]
	return ok
}

func (r *ranks) get(id policy.ID) (rank, bool) {
	slot, ok := r.index[id]
	if !ok {
		return rank{}, false
	}
	return r.heap[r.pos[slot]].rank, true
}

// add adds an item that is not resident.
func (r *ranks) add(x rank) {
	if r.index == nil {
		r.index = map[policy.ID]uint32{}
	}
	s := seat{x, r.slot()}
	r.index[x.id] = s.slot
	r.heap = append(r.heap, s)
	r.up(s, len(r.heap)-1)
}

// set gives a resident its new rank.
func (r *ranks) set(x rank) {
	slot := r.index[x.id]
	r.move(seat{x, slot}, int(r.pos[slot]))
}

func (r *ranks) remove(id policy.ID) {
	slot, ok := r.index[id]
	if !ok {
		return
	}
	delete(r.index, id)
	r.spare = append(r.spare, slot)
	last := r.heap[len(r.heap)-1]
	r.heap = r.heap[:len(r.heap)-1]
	if last.slot != slot {
		r.move(last, int(r.pos[slot]))
	}
}

func (r *ranks) least() (policy.ID, bool) {
	if len(r.heap) == 0 {
		return 0, false
	}
	return r.heap[0].id, true
}

func (r *ranks) slot() uint32 {
	if n := len(r.spare); n > 0 {
		slot := r.spare[n-1]
		r.spare = r.spare[:n-1]
		return slot
	}
	r.pos = append(r.pos, 0)
	return uint32(len(r.pos) - 1)
}

func (r *ranks) move(s seat, i int) {
	if i > 0 && s.before(&r.heap[(i-1)/arity].rank) {
		r.up(s, i)
	} else {
		r.down(s, i)
	}
}

func (r *ranks) up(s seat, i int) {
	for i > 0 {
		parent := (i - 1) / arity
		if !s.before(&r.heap[parent].rank) {
			break
		}
		r.put(r.heap[parent], i)
		i = parent
	}
	r.put(s, i)
}

func (r *ranks) down(s seat, i int) {
	for first := arity*i + 1; first < len(r.heap); first = arity*i + 1 {
		least := first
		for c := first + 1; c < min(first+arity, len(r.heap)); c++ {
			if r.heap[c].before(&r.heap[least].rank) {
				least = c
			}
		}
		if !r.heap[least].before(&s.rank) {
			break
		}
		r.put(r.heap[least], i)
		i = least
	}
	r.put(s, i)
}

func (r *ranks) put(s seat, i int) {
	r.heap[i] = s
	r.pos[s.slot] = uint32(i)
}

func (x *rank) before(y *rank) bool {
	if x.first != y.first {
		return x.first < y.first
	}
	if x.then != y.then {
		return x.then < y.then
	}
	return x.id < y.id
}
