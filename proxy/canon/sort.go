package canon

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// fewNames is up to how many names are sorted by insertion, which is fastest for objects as people write them.
const fewNames = 16

// deepPrefix is the common prefix from which names are sorted by plain comparison: its cost is bounded by their length.
const deepPrefix = 64

// sortNames sorts names by their bytes.
func (d *doc) sortNames(names []uint32) {
	if len(names) > fewNames {
		d.sortMany(names, 0)
		return
	}
	for i := 1; i < len(names); i++ {
		for j := i; j > 0 && bytes.Compare(d.text(names[j]), d.text(names[j-1])) < 0; j-- {
			names[j], names[j-1] = names[j-1], names[j]
		}
	}
}

// stretch is eight bytes of a name, so that sorting does not look names up.
type stretch struct {
	bytes uint64 // big endian, zeros behind a shorter rest
	size  uint32 // of them the name's
	name  uint32
}

// sortMany sorts names that agree in their first depth bytes, by the next eight and then each group by the rest: a
// hostile object of a million names would take seconds to sort by comparing texts.
func (d *doc) sortMany(names []uint32, depth int) {
	if len(names) <= fewNames {
		d.sortNames(names)
		return
	}
	if depth >= deepPrefix {
		slices.SortFunc(names, func(a, b uint32) int { return bytes.Compare(d.text(a), d.text(b)) })
		return
	}
	keys := make([]stretch, len(names))
	for i, name := range names {
		keys[i] = stretchOf(d.text(name)[depth:], name)
	}
	slices.SortFunc(keys, func(a, b stretch) int {
		return cmp.Or(cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.size, b.size))
	})
	for i, k := range keys {
		names[i] = k.name
	}
	for i := 0; i < len(keys); {
		j := i + 1
		for j < len(keys) && keys[j].bytes == keys[i].bytes && keys[j].size == keys[i].size {
			j++
		}
		if keys[i].size == 8 {
			d.sortMany(names[i:j], depth+8)
		}
		i = j
	}
}

func stretchOf(rest []byte, name uint32) stretch {
	if len(rest) >= 8 {
		return stretch{binary.BigEndian.Uint64(rest), 8, name}
	}
	var b [8]byte
	copy(b[:], rest)
	return stretch{binary.BigEndian.Uint64(b[:]), uint32(len(rest)), name}
}
