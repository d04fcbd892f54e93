package rac

// node is a place in a heap of RAC: of one topic's members, of the topics or of the ghosts. Its value lies in it, so that
// sifting reads neighbours; only a tie looks further.
type node struct {
	mant float64 // the value is mant·2^exp
	exp  int32
	item uint32 // what sits here: an entry or a topic
}

// seats is a 4-ary min-heap and the place of every item in it. The positions are shared by all heaps over one kind of
// item, since an item sits in one heap at a time; they are no field of the items because a sift moves many items and
// 4 bytes each stay in the CPU's cache.
type seats struct {
	nodes  *[]node
	pos    []uint32
	rac    *Policy
	topics bool // the items are topics
}

func (s seats) push(n node) {
	*s.nodes = append(*s.nodes, n)
	s.up(n, len(*s.nodes)-1)
}

// move gives the item of n its new rank.
func (s seats) move(n node) {
	i := int(s.pos[n.item])
	if i > 0 && s.before(&n, &(*s.nodes)[(i-1)/arity]) {
		s.up(n, i)
	} else {
		s.down(n, i)
	}
}

func (s seats) remove(item uint32) {
	h := *s.nodes
	i, last := int(s.pos[item]), h[len(h)-1]
	*s.nodes = shrink(h[:len(h)-1])
	if last.item == item {
		return
	}
	s.pos[last.item] = uint32(i)
	s.move(last)
}

// order restores the heap after all of its keys have changed.
func (s seats) order() {
	h := *s.nodes
	for i := len(h) - 1; i >= 0; i-- {
		s.down(h[i], i)
	}
}

const arity = 4

func (s seats) up(n node, i int) {
	h := *s.nodes
	for i > 0 {
		parent := (i - 1) / arity
		if !s.before(&n, &h[parent]) {
			break
		}
		h[i] = h[parent]
		s.pos[h[i].item] = uint32(i)
		i = parent
	}
	h[i] = n
	s.pos[n.item] = uint32(i)
}

func (s seats) down(n node, i int) {
	h := *s.nodes
	for first := arity*i + 1; first < len(h); first = arity*i + 1 {
		least := first
		for c := first + 1; c < min(first+arity, len(h)); c++ {
			if s.before(&h[c], &h[least]) {
				least = c
			}
		}
		if !s.before(&h[least], &n) {
			break
		}
		h[i] = h[least]
		s.pos[h[i].item] = uint32(i)
		i = least
	}
	h[i] = n
	s.pos[n.item] = uint32(i)
}

// before is the total order of victims (D7): value, then least recent use, then earliest birth, then id. In a tie a topic
// is as its first member.
func (s seats) before(a, b *node) bool {
	if a.exp != b.exp {
		return a.exp < b.exp
	}
	if a.mant != b.mant {
		return a.mant < b.mant
	}
	e, f := a.item, b.item
	if s.topics {
		e, f = s.rac.topics.first(e), s.rac.topics.first(f)
	}
	if e == f {
		return a.item < b.item // ghosts have no member
	}
	return s.rac.older(e, f)
}

// shrink frees memory when a heap has become much smaller: otherwise topics that were large once would add up.
func shrink(h []node) []node {
	if cap(h) <= 4*arity || len(h) > cap(h)/4 {
		return h
	}
	return append(make([]node, 0, cap(h)/2), h...)
}
