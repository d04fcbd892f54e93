package policy

// LRU evicts the entry that was used least recently. It has no parameter.
//
// Every call is O(1). Memory per resident: 16 bytes and one map slot.
type LRU struct {
	index map[ID]uint32
	nodes []lruNode // a ring through nodes[0], which is no entry: next of it is the newest, prev of it the oldest
	free  uint32    // first unused node, chained by next; 0 is none
}

type lruNode struct {
	id         ID
	prev, next uint32
}

var _ Evictor = (*LRU)(nil)

// NewLRU starts empty.
func NewLRU() *LRU {
	return &LRU{index: make(map[ID]uint32), nodes: make([]lruNode, 1)}
}

// Insert puts it at the newest end.
func (l *LRU) Insert(it Item, _ Tick) {
	if _, ok := l.index[it.ID]; ok {
		return
	}
	n := l.take()
	l.nodes[n].id = it.ID
	l.index[it.ID] = n
	l.pushFront(n)
}

// Hit moves id to the newest end.
func (l *LRU) Hit(id ID, _ Tick) {
	if n, ok := l.index[id]; ok {
		l.unlink(n)
		l.pushFront(n)
	}
}

// Victim names the oldest entry.
func (l *LRU) Victim() (ID, bool) {
	oldest := l.nodes[0].prev
	return l.nodes[oldest].id, oldest != 0
}

// Remove forgets id.
func (l *LRU) Remove(id ID) {
	n, ok := l.index[id]
	if !ok {
		return
	}
	delete(l.index, id)
	l.unlink(n)
	l.nodes[n] = lruNode{next: l.free}
	l.free = n
}

func (l *LRU) take() uint32 {
	if n := l.free; n != 0 {
		l.free = l.nodes[n].next
		return n
	}
	l.nodes = append(l.nodes, lruNode{})
	return uint32(len(l.nodes) - 1)
}

func (l *LRU) pushFront(n uint32) {
	newest := l.nodes[0].next
	l.nodes[n].prev, l.nodes[n].next = 0, newest
	l.nodes[newest].prev = n
	l.nodes[0].next = n
}

func (l *LRU) unlink(n uint32) {
	prev, next := l.nodes[n].prev, l.nodes[n].next
	l.nodes[prev].next = next
	l.nodes[next].prev = prev
}
