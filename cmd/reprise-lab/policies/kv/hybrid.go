package kv

import (
	"math"

	"reprise/cmd/reprise-lab/policies/keyed"
	"reprise/cmd/reprise-lab/policies/pinning"
	"reprise/policy"
)

// HybridSpec describes lpc-wa and its parameters.
var HybridSpec = policy.Spec{
	Name: "lpc-wa", Says: "least probability of a next use within a life: predicted as in lpc, the time until it by category as in wa",
	Params: []policy.Param{lifeParam, poolParam, sampleParam},
	New:    func(a policy.Args) policy.Evictor { return newHybrid(a) },
}

// Hybrid is LPC with the rates of WA: the block of least probability that its conversation goes on within a life, given the silence since
// its last use. The probability that it does at all is predicted, the time until then has the rate of its category. A block without a
// prediction has the probability of its category: with none at all this is wa in the form bayes.
//
// A rate belongs to a category, so each has a heap of its own, whose keys are made again when a new fit differs by more than a percent. Every
// call but Victim is O(log n), and O(n) each 60 seconds of Tick.At where fits have changed; Victim is O(W) in the categories. Memory: some 100
// bytes per resident, 50 per sampled key.
type Hybrid struct {
	blocks ranked
	model  workload
	slack  float64 // how far a rate or a log odds may be from its fit
}

var (
	_ policy.Evictor     = (*Hybrid)(nil)
	_ pinning.Contextual = (*Hybrid)(nil)
	_ pinning.Pinner     = (*Hybrid)(nil)
)

func newHybrid(a policy.Args) *Hybrid {
	h := &Hybrid{blocks: newRanked(a), model: newWorkload(a), slack: 0.01}
	h.blocks.ranks()
	return h
}

// Insert puts it into the heap of its category.
func (h *Hybrid) Insert(it policy.Item, at policy.Tick) {
	if _, ok := h.blocks.cells.Find(it.ID); ok {
		return
	}
	h.tick(at)
	h.use(h.blocks.add(&it, h.class(it.Category)), &it)
}

// Hit is a use that leaves the category and the probability of the last one.
func (h *Hybrid) Hit(id policy.ID, at policy.Tick) {
	if slot, ok := h.blocks.cells.Find(id); ok {
		h.tick(at)
		h.stamp(slot)
		h.learn(slot)
	}
}

// HitIn is a use by a request of a category, with a prediction.
func (h *Hybrid) HitIn(it policy.Item, at policy.Tick) {
	if slot, ok := h.blocks.cells.Find(it.ID); ok {
		h.tick(at)
		h.use(slot, &it)
	}
}

// Victim compares the first of each heap, at the time of the last call.
func (h *Hybrid) Victim() (policy.ID, bool) {
	best, least := uint32(0), math.Inf(1)
	for class, nodes := range h.blocks.nodes {
		if len(nodes) == 0 {
			continue
		}
		slot := nodes[0].Item
		if p := atMost(&h.model.scales[class], h.blocks.odds(slot, h.model.now), least); best == 0 || p < least || p == least && h.blocks.before(slot, best) {
			best, least = slot, p
		}
	}
	return h.blocks.cells.Name(best)
}

// Remove drops id.
func (h *Hybrid) Remove(id policy.ID, why policy.Reason) {
	slot, ok := h.blocks.cells.Find(id)
	if !ok {
		return
	}
	switch c := h.blocks.cells.At(slot); why {
	case policy.Evicted:
		h.model.evicted(c.last)
	case policy.Purged:
		h.model.shadow.forget(c.key)
	}
	h.blocks.remove(slot)
}

// Pin takes id out of its heap.
func (h *Hybrid) Pin(id policy.ID) { h.blocks.pin(id) }

// Unpin puts id back, used at that time, when no pin is left.
func (h *Hybrid) Unpin(id policy.ID, at policy.Tick) {
	if slot := h.blocks.unpin(id); slot != 0 {
		h.tick(at)
		h.stamp(slot)
	}
}

// use sets category, probability and time of the last use.
func (h *Hybrid) use(slot uint32, it *policy.Item) {
	class := h.class(it.Category)
	c := h.blocks.cells.At(slot)
	odds, pools := h.blocks.odds(slot, h.model.now), h.blocks.pools(slot, it.Topic)
	c.offset = keyed.Int32(it.Offset)
	if c.class != class {
		h.blocks.move(slot, class)
	}
	predicted := it.Prob > 0
	switch {
	case !predicted:
		c.logit = h.blocks.logits[class]
	case pools && c.predicted:
		c.logit = max(odds, clippedLogit(it.Prob))
	default:
		c.logit = clippedLogit(it.Prob)
	}
	c.predicted = predicted
	h.stamp(slot)
	h.learn(slot)
}

func (h *Hybrid) stamp(slot uint32) {
	c := h.blocks.cells.At(slot)
	c.last, c.order = h.model.now, h.model.next()
	h.blocks.place(slot)
}

func (h *Hybrid) learn(slot uint32) {
	c := h.blocks.cells.At(slot)
	h.model.learn(c.key, c.class, c.topic)
}

// class is the number of a category, which has a heap then.
func (h *Hybrid) class(category uint32) uint32 {
	class := h.model.class(category)
	if int(class) == len(h.blocks.nodes) {
		h.blocks.grow(h.model.scales[class].rate, h.model.scales[class].logit)
	}
	return class
}

// tick makes the keys again where there are new fits.
func (h *Hybrid) tick(at policy.Tick) {
	if h.model.tick(at) {
		h.blocks.refit(h.model.scales, h.slack)
	}
}
