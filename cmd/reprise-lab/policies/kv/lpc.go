package kv

import (
	"reprise/cmd/reprise-lab/policies/keyed"
	"reprise/cmd/reprise-lab/policies/pinning"
	"reprise/policy"
)

// LPCSpec describes lpc and its parameters.
var LPCSpec = policy.Spec{
	Name: "lpc", Says: "learned prefix caching: least predicted probability that the conversation goes on, less with time",
	Params: []policy.Param{
		{Name: "scale", Says: "rate of the next turn per second: 1 / the mean time between turns", Default: "0.01", Max: 10},
		{Name: "prior", Says: "probability without a prediction; auto: the share of conversations that go on after that turn", Default: "auto",
			Choices: []string{"auto"}, Min: 1e-6, Max: 1},
		poolParam,
	},
	New: func(a policy.Args) policy.Evictor { return newLPC(a) },
}

var poolParam = policy.Param{
	Name: "pool", Says: "a block that is used again has the larger of its probability so far and the new one: shared: if several conversations use it; " +
		"max: in any case; last: never, it has the new one",
	Default: "shared", Choices: []string{"shared", "max", "last"},
}

// LPC evicts the block of least p·d/(p·d + 1 - p), d = exp(-scale·(now - last use)), where p is Item.Prob, the predicted probability that
// the conversation of the last request goes on: that is the probability that it still does after a silence, if the next turn comes after an
// exponential time. A block of several conversations (Item.Topic, 0 may be any) has the larger of that and the new p when it is used. Ties go
// to the larger offset, then to the least recently used.
//
// The paper computes all probabilities again every 10 seconds; the key of ranked, which does not change with time, has their order. Every
// call is O(log n), Victim O(1). Memory: some 100 bytes per resident. Source: papers/004 §3.4 and §3.5.
type LPC struct {
	blocks ranked // of one class
	clock  clock
	prior  float64 // 0: learned
	turns  turns
}

var (
	_ policy.Evictor     = (*LPC)(nil)
	_ pinning.Contextual = (*LPC)(nil)
	_ pinning.Pinner     = (*LPC)(nil)
)

func newLPC(a policy.Args) *LPC {
	l := &LPC{blocks: newRanked(a), turns: newTurns()}
	if a.Choice("prior") == "" {
		l.prior = a.Num("prior")
	}
	l.blocks.ranks()
	l.blocks.grow(a.Num("scale"), 0)
	return l
}

// Insert puts it into the heap.
func (l *LPC) Insert(it policy.Item, at policy.Tick) {
	if _, ok := l.blocks.cells.Find(it.ID); ok {
		return
	}
	l.tick(at)
	slot := l.blocks.add(&it, 0)
	l.use(slot, &it, at.Seq)
}

// Hit is a use that leaves the probability of the last one.
func (l *LPC) Hit(id policy.ID, at policy.Tick) {
	if slot, ok := l.blocks.cells.Find(id); ok {
		l.tick(at)
		l.stamp(slot)
		l.blocks.place(slot)
	}
}

// HitIn is a use by a request with a prediction.
func (l *LPC) HitIn(it policy.Item, at policy.Tick) {
	if slot, ok := l.blocks.cells.Find(it.ID); ok {
		l.tick(at)
		l.use(slot, &it, at.Seq)
	}
}

// Victim names the block of least key.
func (l *LPC) Victim() (policy.ID, bool) {
	if nodes := l.blocks.nodes[0]; len(nodes) > 0 {
		return l.blocks.cells.Name(nodes[0].Item)
	}
	return 0, false
}

// Remove drops id.
func (l *LPC) Remove(id policy.ID, why policy.Reason) {
	slot, ok := l.blocks.cells.Find(id)
	if !ok {
		return
	}
	if why == policy.Purged {
		l.turns.shadow.forget(l.blocks.cells.At(slot).key)
	}
	l.blocks.remove(slot)
}

// Pin takes id out of the heap.
func (l *LPC) Pin(id policy.ID) { l.blocks.pin(id) }

// Unpin puts id back, used at that time, when no pin is left.
func (l *LPC) Unpin(id policy.ID, at policy.Tick) {
	if slot := l.blocks.unpin(id); slot != 0 {
		l.tick(at)
		l.stamp(slot)
		l.blocks.place(slot)
	}
}

// use sets the probability and the time of the last use.
func (l *LPC) use(slot uint32, it *policy.Item, seq int64) {
	c := l.blocks.cells.At(slot)
	logit := l.logit(it)
	c.offset = keyed.Int32(it.Offset)
	if l.prior == 0 && !(it.Prob > 0) {
		l.turns.touch(c, it, seq, l.clock.now)
	}
	if l.blocks.pools(slot, it.Topic) {
		logit = max(logit, l.blocks.odds(slot, l.clock.now))
	}
	c.logit = logit
	l.stamp(slot)
	l.blocks.place(slot)
}

func (l *LPC) logit(it *policy.Item) float64 {
	switch {
	case it.Prob > 0:
		return clippedLogit(it.Prob)
	case l.prior > 0:
		return clippedLogit(l.prior)
	}
	return clippedLogit(l.turns.goesOn(it.Category))
}

func (l *LPC) stamp(slot uint32) {
	c := l.blocks.cells.At(slot)
	c.last, c.order = l.clock.now, l.clock.next()
}

func (l *LPC) tick(at policy.Tick) {
	if l.clock.advance(at.At) && l.prior == 0 {
		l.turns.shadow.refit(l.clock.now)
	}
}

// clippedLogit is the logit of a predicted probability, which is clipped so that it is finite.
func clippedLogit(p float64) float64 { return logit(min(max(p, 1e-6), 1-1e-6)) }
