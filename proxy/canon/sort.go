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
func (s *scanner) sortNames(names []uint32) {
	if len(names) > fewNames {
		s.sortMany(names, 0)
		return
	}
	for i := 1; i < len(names); i++ {
		for j := i; j > 0 && bytes.Compare(s.text(names[j]), s.text(names[j-1])) < 0; j-- {
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
// hostile object of a million names would take seconds to sort by comparing texts. All depths share the memory of keys.
func (s *scanner) sortMany(names []uint32, depth int) {
	if len(names) <= fewNames {
		s.sortNames(names)
		return
	}
	if depth >= deepPrefix {
		slices.SortFunc(names, func(a, b uint32) int { return bytes.Compare(s.text(a), s.text(b)) })
		return
	}
	s.sortStretches(names, depth)
	for i := 0; i < len(names); {
		first := s.stretchOf(names[i], depth)
		j := i + 1
		for j < len(names) && first.equal(s.stretchOf(names[j], depth)) {
			j++
		}
		if first.size == 8 {
			s.sortMany(names[i:j], depth+8)
		}
		i = j
	}
}

// sortStretches sorts names by eight bytes of each, from depth on.
func (s *scanner) sortStretches(names []uint32, depth int) {
	s.keys = slices.Grow(s.keys[:0], len(names))[:len(names)]
	for i, name := range names {
		s.keys[i] = s.stretchOf(name, depth)
	}
	slices.SortFunc(s.keys, func(a, b stretch) int {
		return cmp.Or(cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.size, b.size))
	})
	for i, k := range s.keys {
		names[i] = k.name
	}
}

// stretchBytes is the size of a stretch in memory.
const stretchBytes = 16

func (a stretch) equal(b stretch) bool { return a.bytes == b.bytes && a.size == b.size }

func (d *doc) stretchOf(name uint32, depth int) stretch {
	rest := d.text(name)[depth:]
	if len(rest) >= 8 {
		return stretch{binary.BigEndian.Uint64(rest), 8, name}
	}
	var b [8]byte
	copy(b[:], rest)
	return stretch{binary.BigEndian.Uint64(b[:]), uint32(len(rest)), name}
}
