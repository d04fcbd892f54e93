package kv

import (
	"math"

	"reprise/cmd/reprise-lab/policies/keyed"
	"reprise/internal/container"
	"reprise/policy"
)

// ranked is blocks with predictions, in a heap for each class. A block whose next use comes with probability p, after an exponential time
// of some rate, and that was used last at time t, has the log odds logit(p) - rate·(now - t) now (papers/004 §3.4). In a class with one rate
// their order is that of the key logit(p) + rate·t, which does not change with time.
type ranked struct {
	cells  container.Slots[policy.ID, rankedCell] // in no queue
	heaps  container.Heaps
	nodes  [][]container.Node // by class
	rates  []float64          // by class
	logits []float64          // by class, of blocks without a prediction
	pool   string             // a choice of poolParam
}

type rankedCell struct {
	logit  float64 // of p at the last use
	last   float64 // use
	key    uint64
	order  uint32 // among the uses at that time
	offset int32
	class  uint32
	pins   uint32 // in no heap where there are any

	predicted bool // else logit is that of the category
	shared    bool // by several topics
	topic     policy.TopicID
}

func newRanked(a policy.Args) ranked { return ranked{pool: a.Choice(poolParam.Name)} }

// ranks must be called once, when r has its place in memory.
func (r *ranked) ranks() { r.heaps.Ties = r.older }

// older reports whether a was used before b.
func (r *ranked) older(a, b uint32) bool {
	x, y := r.cells.At(a), r.cells.At(b)
	return x.last < y.last || x.last == y.last && x.order < y.order
}

// before reports whether a goes before b where they are worth the same.
func (r *ranked) before(a, b uint32) bool {
	if x, y := r.cells.At(a), r.cells.At(b); x.offset != y.offset {
		return x.offset > y.offset
	}
	return r.older(a, b)
}

// pools reports whether a block that a topic uses has the larger of its old probability and a new one. It is called once for each use.
func (r *ranked) pools(slot uint32, topic policy.TopicID) bool {
	c := r.cells.At(slot)
	c.shared = c.shared || topic == 0 || topic != c.topic
	return r.pool == "max" || r.pool == "shared" && c.shared
}

// grow makes a heap for a class, the next one in order.
func (r *ranked) grow(rate, logit float64) {
	r.nodes, r.rates, r.logits = append(r.nodes, nil), append(r.rates, rate), append(r.logits, logit)
}

// odds are the log odds of slot at some time.
func (r *ranked) odds(slot uint32, now float64) float64 {
	c := r.cells.At(slot)
	return c.logit - r.rates[c.class]*(now-c.last)
}

// add adds a block that is in no heap yet.
func (r *ranked) add(it *policy.Item, class uint32) (slot uint32) {
	slot = r.cells.Add(it.ID, rankedCell{logit: math.Inf(-1), key: it.Identity(), topic: it.Topic, class: class})
	for int(slot) >= len(r.heaps.Place) {
		r.heaps.Place = append(r.heaps.Place, 0)
	}
	return slot
}

// place puts slot where its cell says, or takes it out where it is pinned.
func (r *ranked) place(slot uint32) {
	c := r.cells.At(slot)
	nodes, in := &r.nodes[c.class], r.heaps.Place[slot] != 0
	switch {
	case c.pins > 0 && in:
		r.heaps.Remove(nodes, slot)
	case c.pins > 0:
	case in:
		r.heaps.Move(*nodes, r.node(slot))
	default:
		r.heaps.Push(nodes, r.node(slot))
	}
}

// move makes slot one of another class, in no heap.
func (r *ranked) move(slot, class uint32) {
	c := r.cells.At(slot)
	if r.heaps.Place[slot] != 0 {
		r.heaps.Remove(&r.nodes[c.class], slot)
	}
	c.class = class
}

// remove drops slot.
func (r *ranked) remove(slot uint32) {
	r.move(slot, r.cells.At(slot).class)
	r.cells.Free(slot)
}

// reorder restores the heap of a class whose keys have changed.
func (r *ranked) reorder(class int) {
	nodes := r.nodes[class]
	for i, n := range nodes {
		nodes[i] = r.node(n.Item)
	}
	h := container.Heap{Nodes: nodes, Place: r.heaps.Place, Ties: r.heaps.Ties}
	h.Order()
}

func (r *ranked) node(slot uint32) container.Node {
	c := r.cells.At(slot)
	return container.Node{Major: container.Rank(c.logit + r.rates[c.class]*c.last), Minor: keyed.LargerFirst(c.offset), Item: slot}
}

// pin counts one more pin of id.
func (r *ranked) pin(id policy.ID) {
	if slot, ok := r.cells.Find(id); ok {
		r.cells.At(slot).pins++
		r.place(slot)
	}
}

// unpin counts one less, and returns the slot of id, in no heap so far, when that was the last one; else 0.
func (r *ranked) unpin(id policy.ID) uint32 {
	slot, ok := r.cells.Find(id)
	if !ok || r.cells.At(slot).pins == 0 {
		return 0
	}
	c := r.cells.At(slot)
	c.pins--
	if c.pins > 0 {
		return 0
	}
	return slot
}

// refit gives each class the rate of its fit, and the blocks without a prediction its log odds, where these differ by more than slack.
func (r *ranked) refit(scales []scale, slack float64) {
	changed := make([]bool, len(r.nodes))
	any := false
	for class := range r.nodes {
		s := &scales[class]
		if math.Abs(s.rate-r.rates[class]) > slack*r.rates[class] || math.Abs(s.logit-r.logits[class]) > slack {
			r.rates[class], r.logits[class] = s.rate, s.logit
			changed[class], any = true, true
		}
	}
	if !any {
		return
	}
	for slot := range r.cells.Cells {
		if c := &r.cells.Cells[slot].Val; !c.predicted && changed[c.class] {
			c.logit = r.logits[c.class]
		}
	}
	for class := range r.nodes {
		if changed[class] {
			r.reorder(class)
		}
	}
}
