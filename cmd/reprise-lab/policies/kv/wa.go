package kv

import (
	"math"

	"reprise/cmd/reprise-lab/policies/keyed"
	"reprise/cmd/reprise-lab/policies/pinning"
	"reprise/internal/container"
	"reprise/policy"
)

// WASpec describes wa and its parameters.
var WASpec = policy.Spec{
	Name: "wa", Says: "workload-aware: least probability of a next use within a life, by the category of the last use",
	Params: waParams("paper", "exponential", "no"),
	New:    func(a policy.Args) policy.Evictor { return newWA(a) },
}

// WAPlusSpec describes wa+, which is wa with other defaults: what measured best on traces of chats.
var WAPlusSpec = policy.Spec{
	Name: "wa+", Says: "wa beyond its paper: most probable per second, after a mixture of times, with a category of blocks that conversations share",
	Params: waParams("rate", "mixture", "own"),
	New:    func(a policy.Args) policy.Evictor { return newWA(a) },
}

// waParams are the parameters of wa with the defaults of some.
func waParams(form, fit, shared string) []policy.Param {
	return []policy.Param{
		lifeParam,
		pParam,
		{Name: "form", Says: "the probability as of the last use (paper), given the time since then (bayes), or that per second, without a life (rate)",
			Default: form, Choices: []string{"paper", "bayes", "rate"}},
		{Name: "fit", Says: "the law of times to the next use: exponential, or a mixture of two exponentials", Default: fit,
			Choices: []string{"exponential", "mixture"}},
		{Name: "shared", Says: "own: the blocks of a category that several conversations used are another category", Default: shared,
			Choices: []string{"no", "own"}},
		sampleParam,
	}
}

// WA evicts the block of least (ReuseProb, -offset): the probability, for blocks that requests of its category use, of a next use from now
// until a life later (papers/001 §4.2). Times to the next use are exponential with a share that never comes, estimated for each category
// from sampled keys (package hint). That probability falls with the time since the last use, so each category is a queue in the order
// of last uses, and only their ends are compared. Ties go to the larger offset, then to the least recently used.
//
// Beside that of the paper there are other forms of the probability, all of which fall with that time; a law with a longer tail; and a
// category of their own for blocks that several conversations used (Item.Topic), since Insert: such a block returns soon, whatever the type.
//
// With one category it is LRU. Every call but Victim is O(1), each 60 seconds of Tick.At one is O(sampled keys); Victim is O(W) in the
// categories that have residents. Memory: some 90 bytes per resident, 60 per sampled key, 3 KiB per category.
type WA struct {
	cells  container.Slots[policy.ID, waCell]
	queues []container.Queue // by class: the last used at the head; no pinned ones
	ends   []end             // by class
	model  workload
	form   string
	shares bool // shared=own
}

// end is a copy of the last use of the block at the tail of a queue, beside those of the other queues: to read them all from the cells would
// wait for memory at each one.
type end struct {
	last float64
	slot uint32 // whose it is; 0: none

	// priority is that of a last use at from, when it was now, by a version of the model.
	priority, from, now float64
	version             int
}

type waCell struct {
	last   float64 // use
	key    uint64
	order  uint32 // among the uses at that time
	offset int32
	class  uint32
	pins   uint32
	shared bool // by several topics
	topic  policy.TopicID
}

var (
	_ policy.Evictor     = (*WA)(nil)
	_ pinning.Contextual = (*WA)(nil)
	_ pinning.Pinner     = (*WA)(nil)
)

func newWA(a policy.Args) *WA {
	w := &WA{model: newWorkload(a), form: a.Choice("form"), shares: a.Choice("shared") == "own"}
	w.model.shadow.split = w.shares
	w.model.shadow.model.mixed = a.Choice("fit") == "mixture"
	return w
}

// Insert puts it in the queue of its category.
func (w *WA) Insert(it policy.Item, at policy.Tick) {
	if _, ok := w.cells.Find(it.ID); ok {
		return
	}
	w.model.tick(at)
	class := w.class(it.Category)
	slot := w.cells.Add(it.ID, waCell{key: it.Identity(), offset: keyed.Int32(it.Offset), class: class, topic: it.Topic})
	w.cells.PushHead(&w.queues[class], slot)
	w.stamp(slot)
	w.learn(slot)
}

// Hit is HitIn for a request of the same category as the last one.
func (w *WA) Hit(id policy.ID, at policy.Tick) {
	if slot, ok := w.cells.Find(id); ok {
		w.model.tick(at)
		w.use(slot, w.cells.At(slot).class)
		w.learn(slot)
	}
}

// HitIn moves it to the queue of its category.
func (w *WA) HitIn(it policy.Item, at policy.Tick) {
	if slot, ok := w.cells.Find(it.ID); ok {
		w.model.tick(at)
		c := w.cells.At(slot)
		c.offset, c.shared, c.topic = keyed.Int32(it.Offset), c.shared || c.topic != it.Topic, it.Topic
		category := it.Category
		if w.shares && c.shared {
			category |= several
		}
		w.use(slot, w.class(category))
		w.learn(slot)
	}
}

// Victim compares the oldest of each category, at the time of the last call.
func (w *WA) Victim() (policy.ID, bool) {
	best, least := uint32(0), math.Inf(1)
	for class := range w.queues {
		slot := w.queues[class].Tail
		if slot == 0 {
			continue
		}
		if p := w.priority(class, slot); best == 0 || p < least || p == least && w.before(slot, best) {
			best, least = slot, p
		}
	}
	return w.cells.Name(best)
}

// Remove drops id.
func (w *WA) Remove(id policy.ID, why policy.Reason) {
	slot, ok := w.cells.Find(id)
	if !ok {
		return
	}
	c := w.cells.At(slot)
	switch why {
	case policy.Evicted:
		w.model.evicted(c.last)
	case policy.Purged:
		w.model.shadow.forget(c.key)
	}
	if c.pins == 0 {
		w.cells.Unlink(&w.queues[c.class], slot)
	}
	w.cells.Free(slot)
}

// Pin takes id out of its queue.
func (w *WA) Pin(id policy.ID) {
	slot, ok := w.cells.Find(id)
	if !ok {
		return
	}
	c := w.cells.At(slot)
	if c.pins == 0 {
		w.cells.Unlink(&w.queues[c.class], slot)
	}
	c.pins++
}

// Unpin puts id back as the last used one when no pin is left. The model has the times of requests, which this is not.
func (w *WA) Unpin(id policy.ID, at policy.Tick) {
	slot, ok := w.cells.Find(id)
	if !ok || w.cells.At(slot).pins == 0 {
		return
	}
	w.model.tick(at)
	c := w.cells.At(slot)
	c.pins--
	if c.pins == 0 {
		w.cells.PushHead(&w.queues[c.class], slot)
		w.stamp(slot)
	}
}

// use makes slot the last used one of a class.
func (w *WA) use(slot, class uint32) {
	c := w.cells.At(slot)
	switch {
	case c.pins > 0:
	case c.class == class:
		w.cells.ToHead(&w.queues[class], slot)
	default:
		w.cells.Unlink(&w.queues[c.class], slot)
		w.cells.PushHead(&w.queues[class], slot)
	}
	c.class = class
	w.stamp(slot)
}

func (w *WA) stamp(slot uint32) {
	c := w.cells.At(slot)
	c.last, c.order = w.model.now, w.model.next()
	if e := &w.ends[c.class]; e.slot == slot {
		e.slot = 0
	}
}

func (w *WA) learn(slot uint32) {
	c := w.cells.At(slot)
	w.model.learn(c.key, c.class, c.topic)
}

// priority is the log of ReuseProb of slot, the tail of a class. The blocks of a chain have one, so it is seldom computed.
func (w *WA) priority(class int, slot uint32) float64 {
	e := &w.ends[class]
	if e.slot != slot {
		e.slot, e.last = slot, w.cells.At(slot).last
	}
	if e.from != e.last || e.now != w.model.now || e.version != w.model.version {
		e.priority = w.value(&w.model.curves[class], w.model.now-e.last)
		e.from, e.now, e.version = e.last, w.model.now, w.model.version
	}
	return e.priority
}

func (w *WA) value(c *curve, idle float64) float64 {
	switch w.form {
	case "bayes":
		return c.conditional(idle)
	case "rate":
		return c.density(idle)
	}
	return c.unconditional(idle)
}

// before reports whether a goes before b where their priorities are equal.
func (w *WA) before(a, b uint32) bool {
	x, y := w.cells.At(a), w.cells.At(b)
	switch {
	case x.offset != y.offset:
		return x.offset > y.offset
	case x.last != y.last:
		return x.last < y.last
	}
	return x.order < y.order
}

// class is the number of a category, which has a queue then.
func (w *WA) class(category uint32) uint32 {
	class := w.model.class(category)
	if int(class) == len(w.queues) {
		w.queues, w.ends = append(w.queues, container.Queue{}), append(w.ends, end{version: -1})
	}
	return class
}
