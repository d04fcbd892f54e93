package panel

import (
	"reprise/policy"
	"reprise/policy/internal/container"
)

// residents are the entries of a large cache in the order of their last use, and how far they are copied to a successor.
type residents struct {
	ids     container.Index[policy.ID]
	slots   container.Slots[uint64, resident] // by identity
	order   container.Queue                   // the latest used at its head
	orphans container.Queue                   // residents whose identity went to a newer one: they go first
	bytes   int64

	copying uint32 // number of the copy under way, 0 if there is none
	copies  uint32 // numbers given
	cursor  uint32 // the next one to copy, towards the head
}

// resident is what is kept of an entry, so that it can be copied to a successor.
type resident struct {
	described
	copied uint32 // the copy in which the successor got it
	uses   uint16
	orphan bool
}

func (r *residents) at(e uint32) *resident { return r.slots.At(e) }

func (r *residents) key(e uint32) uint64 { return r.slots.Cells[e].Name }

// find is the resident of that ID, 0 where there is none.
func (r *residents) find(id policy.ID) uint32 { return r.ids.Find(id, r.idOf) }

func (r *residents) idOf(e uint32) policy.ID { return r.slots.Cells[e].Val.id }

func (r *residents) item(e uint32) policy.Item { return r.at(e).item(r.key(e)) }

// root is the identity of the first turn of the conversation of a resident, 0 if there is none.
func (r *residents) root(id policy.ID) uint64 {
	e := r.find(id)
	if e == 0 {
		return 0
	}
	if root := r.at(e).root; root != 0 {
		return root
	}
	return r.key(e)
}

// add starts a resident at the newest end.
func (r *residents) add(it policy.Item, seq int64) uint32 {
	root := r.root(it.Parent)
	e := r.slots.Add(it.Identity(), resident{described: described{id: it.ID, used: seq}, uses: 1})
	r.at(e).describe(it, it.Identity(), root)
	r.ids.Add(it.ID, e, r.idOf)
	r.push(e)
	return e
}

// use counts a use of e and moves it to the newest end.
func (r *residents) use(e uint32, seq int64) {
	x := r.at(e)
	x.used, x.uses = seq, min(x.uses, 1<<16-2)+1
	r.pull(e)
	r.push(e)
}

// supersede gives the identity of e to it. The old entry, which no request can reach again, becomes an orphan.
func (r *residents) supersede(e uint32, it policy.Item) {
	id := r.at(e).id
	r.ids.Remove(id, r.idOf)
	old := r.slots.Add(0, resident{described: described{id: id, size: r.at(e).size}, orphan: true})
	r.slots.PushHead(&r.orphans, old)
	r.ids.Add(id, old, r.idOf)
	r.at(e).id = it.ID
	r.ids.Add(it.ID, e, r.idOf)
	r.at(e).describe(it, r.key(e), r.root(it.Parent))
}

func (r *residents) drop(e uint32) {
	x := r.at(e)
	r.bytes -= x.size
	if x.orphan {
		r.slots.Unlink(&r.orphans, e)
	} else {
		r.pull(e)
	}
	r.ids.Remove(x.id, r.idOf)
	r.slots.Free(e)
}

// push puts e at the newest end. If the cursor had come there, it goes on with e.
func (r *residents) push(e uint32) {
	r.slots.PushHead(&r.order, e)
	if r.copying != 0 && r.cursor == 0 {
		r.cursor = e
	}
}

// pull takes e out of the order, and from under the cursor.
func (r *residents) pull(e uint32) {
	if r.cursor == e {
		r.cursor = r.slots.Cells[e].Prev
	}
	r.slots.Unlink(&r.order, e)
}

// startCopy begins to copy all residents, the least recently used first.
func (r *residents) startCopy() {
	r.copies++
	r.copying, r.cursor = r.copies, r.order.Tail
}

func (r *residents) endCopy() { r.copying = 0 }

// nextCopy moves the cursor on and returns what it pointed to, 0 at the end. What is used meanwhile stands at the head, and
// its turn comes.
func (r *residents) nextCopy() uint32 {
	e := r.cursor
	if e != 0 {
		r.cursor = r.slots.Cells[e].Prev
	}
	return e
}

// isCopied reports whether the successor has e.
func (r *residents) isCopied(e uint32) bool { return r.copying != 0 && r.at(e).copied == r.copying }
