package rac

import "reprise/internal/container"

// few is how many members a topic has without a heap. Most topics have that few, and a list through the entries costs
// nothing beyond them.
const few = 4

// join makes e a member.
func (t *topicTable) join(slot, e uint32) {
	x, next := &t.all[slot], t.entries.seats.Place
	if x.members == nil {
		n := 0
		for m := x.head; m != 0; m = next[m] {
			n++
		}
		if n < few {
			next[e], x.head = x.head, e
			t.lead(x)
			return
		}
		t.gather(x)
	}
	t.entries.seats.Push(x.members, t.entries.rank(e))
}

// leave takes a member out.
func (t *topicTable) leave(slot, e uint32) {
	x := &t.all[slot]
	if x.members == nil {
		t.unlink(x, e)
		t.lead(x)
		return
	}
	t.entries.seats.Remove(x.members, e)
	if len(*x.members) <= few/2 {
		t.scatter(x)
	}
}

// moved puts a member where its value now belongs.
func (t *topicTable) moved(slot, e uint32) {
	if x := &t.all[slot]; x.members == nil {
		t.lead(x)
	} else {
		t.entries.seats.Move(*x.members, t.entries.rank(e))
	}
}

// first is the member of least value, 0 where there is none.
func (t *topicTable) first(slot uint32) uint32 {
	x := &t.all[slot]
	if x.members == nil {
		return x.head
	}
	return (*x.members)[0].Item
}

// lead brings the least of a list to its head.
func (t *topicTable) lead(x *topic) {
	next, least := t.entries.seats.Place, x.head
	if least == 0 {
		return
	}
	for m := next[least]; m != 0; m = next[m] {
		if t.entries.before(m, least) {
			least = m
		}
	}
	if least != x.head {
		t.unlink(x, least)
		next[least], x.head = x.head, least
	}
}

func (t *topicTable) unlink(x *topic, e uint32) {
	p := &x.head
	for *p != e {
		p = &t.entries.seats.Place[*p]
	}
	*p = t.entries.seats.Place[e]
}

// gather turns the list into a heap.
func (t *topicTable) gather(x *topic) {
	nodes := make([]container.Node, 0, 2*few)
	x.members = &nodes
	for m := x.head; m != 0; {
		next := t.entries.seats.Place[m]
		t.entries.seats.Push(x.members, t.entries.rank(m))
		m = next
	}
	x.head = 0
}

// scatter turns the heap into a list.
func (t *topicTable) scatter(x *topic) {
	for _, n := range *x.members {
		t.entries.seats.Place[n.Item], x.head = x.head, n.Item
	}
	x.members = nil
	t.lead(x)
}
