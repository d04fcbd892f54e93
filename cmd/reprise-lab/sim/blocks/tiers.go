package blocks

import (
	"reprise/cmd/reprise-lab/sim"
	"reprise/policy"
)

// tiers are a cache and possibly a second one, which has what the first one dropped (papers/001 §4.1: GPU and CPU memory). A block is in one
// of them; a request brings those that it finds in the second back into the first.
type tiers struct {
	first, second *Cache          // second: nil
	seer          sim.Clairvoyant // the evictor of the second, nil where it is none
	uses          []use           // the last of each block; only for a second tier
}

// use is what a second tier is given with a block.
type use struct {
	item policy.Item
	next int64 // for seer
}

// run is the leading run of a chain that is in either, and how many of it are in the second.
func (t *tiers) run(chain []uint32) (hits, second int) {
	if t.second == nil {
		return t.first.Run(chain), 0
	}
	for _, b := range chain {
		switch {
		case t.first.Has(b):
		case t.second.Has(b):
			second++
		default:
			return hits, second
		}
		hits++
	}
	return hits, second
}

// note keeps the last use of a block.
func (t *tiers) note(b uint32, it *policy.Item, next int64) {
	if t.second == nil {
		return
	}
	for len(t.uses) <= int(b) {
		t.uses = append(t.uses, use{})
	}
	t.uses[b] = use{*it, next}
}

// fill makes a block resident in the first tier, and moves what is dropped for it to the second. It reports false if there is no room.
func (t *tiers) fill(b uint32, it *policy.Item, next int64, at policy.Tick) bool {
	if !t.first.Reserve() {
		return false
	}
	t.note(b, it, next)
	dropped := t.first.Evicted()
	if t.second != nil {
		if t.second.Has(b) {
			t.second.Drop(b)
		}
		for _, d := range dropped {
			t.move(d, at)
		}
	}
	t.first.Fill(b, it, at)
	return true
}

// move gives the second tier a block that the first dropped.
func (t *tiers) move(b uint32, at policy.Tick) {
	last := &t.uses[b]
	if t.seer != nil {
		t.seer.Foresee(last.next, 0)
	}
	if t.second.Reserve() && t.second.Fill(b, &last.item, at) {
		t.second.Release(b, at)
	}
	t.second.Evicted() // nothing takes them: the list is emptied
}

// evictions counts what was dropped from the last tier.
func (t *tiers) evictions() int64 {
	if t.second != nil {
		return t.second.Evictions()
	}
	return t.first.Evictions()
}
