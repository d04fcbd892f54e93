package file

import (
	"reprise/store"
)

// kindGraves is a record of the file's own: one bit for each of graveSpan entry ids, set when the entry was deleted. A
// salvage needs it, because the pages of a deleted entry lie about in the file for a while and nothing in them says so;
// without it a purged answer could come back. Ids are never used twice, so a bit is never cleared.
const kindGraves store.Kind = 255

const graveSpan = 4096

// graves are bitmaps by id / graveSpan.
type graves map[uint64][]byte

func (g graves) has(id uint64) bool {
	b := g[id/graveSpan]
	return len(b) == graveSpan/8 && b[id%graveSpan/8]&(1<<(id%8)) != 0
}

// add sets the bit of id; old reads the bitmap as it was.
func (g graves) add(id uint64, old func(span uint64) []byte) {
	span := id / graveSpan
	if g[span] == nil {
		g[span] = make([]byte, graveSpan/8)
		copy(g[span], old(span))
	}
	g[span][id%graveSpan/8] |= 1 << (id % 8)
}

// ofEntry reports whether records of kind k carry the id of an entry.
func ofEntry(k store.Kind) bool {
	switch k {
	case store.KindEntry, store.KindVector, store.KindAliases, store.KindState:
		return true
	}
	return false
}
