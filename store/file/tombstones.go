package file

import (
	"iter"
	"math/bits"
	"slices"

	"reprise/store"
)

// kindTombstones is a record of the file's own: one bit for each of tombstoneSpan entry ids, set while the entry is
// deleted. bbolt copies a page before it changes it, so former versions of a page stay in the file for a while, and one
// flipped bit in a page number can put such a page back into the tree, with entries that were purged since. Load leaves
// out every entry whose bit is set. What is left of its vector and state belongs to no entry.
const kindTombstones store.Kind = 255

const tombstoneSpan = 4096

// tombstones are bitmaps by id / tombstoneSpan.
type tombstones map[uint64][]byte

func (t tombstones) has(id uint64) bool {
	b := t[id/tombstoneSpan]
	return b != nil && b[id%tombstoneSpan/8]&(1<<(id%8)) != 0
}

// set changes the bit of id. A bitmap that has none left is dropped.
func (t tombstones) set(id uint64, on bool) {
	span := id / tombstoneSpan
	if t[span] == nil {
		t[span] = make([]byte, tombstoneSpan/8)
	}
	if t.has(id) != on {
		t[span][id%tombstoneSpan/8] ^= 1 << (id % 8)
	}
	if !on && count(t[span]) == 0 {
		delete(t, span)
	}
}

// ids are those whose bit is set, in no order of the bitmaps.
func (t tombstones) ids() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for span, some := range t {
			for at, b := range some {
				for ; b != 0; b &= b - 1 {
					if !yield(span*tombstoneSpan + uint64(8*at+bits.TrailingZeros8(b))) {
						return
					}
				}
			}
		}
	}
}

// after returns the bitmaps that a batch changes, as they will be.
func (t tombstones) after(b *store.Batch) tombstones {
	changed := tombstones{}
	for _, r := range b.Delete {
		if r.Kind == store.KindEntry {
			changed.flip(t, r.ID, true)
		}
	}
	for _, r := range b.Put {
		if r.Kind == store.KindEntry {
			changed.flip(t, r.ID, false)
		}
	}
	return changed
}

// flip makes the bit of id what dead says. A bitmap that does not change stays out of t.
func (t tombstones) flip(old tombstones, id uint64, dead bool) {
	span := id / tombstoneSpan
	switch {
	case t[span] != nil:
	case old.has(id) == dead:
		return
	case old[span] != nil:
		t[span] = slices.Clone(old[span])
	default:
		t[span] = make([]byte, tombstoneSpan/8)
	}
	if t.has(id) != dead {
		t[span][id%tombstoneSpan/8] ^= 1 << (id % 8)
	}
}

// records are the bitmaps as records of a kind.
func (t tombstones) records(kind store.Kind) (all []store.Record) {
	for span, some := range t {
		all = append(all, store.Record{Kind: kind, ID: span, Body: some})
	}
	return all
}
