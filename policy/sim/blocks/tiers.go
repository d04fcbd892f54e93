package blocks

import "reprise/policy"

// tiers are a cache and possibly a second one, which has what the first one dropped (papers/001 §4.1: GPU and CPU memory). A block is in one
// of them; a request brings those that it finds in the second back into the first.
type tiers struct {
	first, second *Cache        // second: nil
	items         []policy.Item // of each block, as it was used last; only for a second tier
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

// note keeps what a second tier has to be given with a block.
func (t *tiers) note(b uint32, it *policy.Item) {
	if t.second == nil {
		return
	}
	for len(t.items) <= int(b) {
		t.items = append(t.items, policy.Item{})
	}
	t.items[b] = *it
}

// fill makes a block resident in the first tier, and moves what is dropped for it to the second. It reports false if there is no room.
func (t *tiers) fill(b uint32, it *policy.Item, at policy.Tick) bool {
	if !t.first.Reserve() {
		return false
	}
	t.note(b, it)
	dropped := t.first.Evicted()
	if t.second != nil {
		if t.second.Has(b) {
			t.second.Drop(b)
		}
		for _, d := range dropped {
			if t.second.Reserve() && t.second.Fill(d, &t.items[d], at) {
				t.second.Release(d, at)
			}
		}
	}
	t.first.Fill(b, it, at)
	return true
}

// evictions counts what was dropped from the last tier.
func (t *tiers) evictions() int64 {
	if t.second != nil {
		return t.second.Evictions()
	}
	return t.first.Evictions()
}
