package profile

import "reprise/cmd/reprise-lab/sim/blocks"

// tenths is the parts of a request that the map of places has.
const tenths = 10

// Spatial is the ideal hit ratio of a cache that keeps only a part of each request: a stride of its blocks, prompt and answer, from an offset on. A
// hit is a block that an earlier request had in that part, whether or not the blocks before it are there. An engine that needs these too can use
// the caches of offset 0 alone, in which they always are.
type Spatial struct {
	Name string `json:"name"`
	// Blocks are the uses in prompts that are counted.
	Blocks int64 `json:"blocks"`
	// Ratios are by stride, from 10 % to 100 %, and then by offset, from 0 % up to 100 % minus the stride.
	Ratios [][]float64 `json:"ratios"`
}

// placed is the uses by the set of tenths, as bits, in which earlier requests had their block.
type placed [1 << tenths]int64

// place counts the places of the blocks of a request, and adds its own.
func (p *pass) place(r *blocks.Request, c *cell) {
	n := len(r.Blocks) + len(r.Filled)
	for tenth := range tenths {
		begin, end := (tenth*n+tenths-1)/tenths, ((tenth+1)*n+tenths-1)/tenths // of the blocks that begin there
		bit := uint16(1) << tenth
		for _, b := range r.Blocks[min(begin, len(r.Blocks)):min(end, len(r.Blocks))] {
			c.placed[p.places[b]]++
			p.places[b] |= bit
		}
		for _, b := range r.Filled[max(0, begin-len(r.Blocks)):max(0, end-len(r.Blocks))] {
			p.places[b] |= bit
		}
	}
}

func (s *placed) add(o *placed) {
	for i, n := range o {
		s[i] += n
	}
}

// spatial is the map.
func (s *placed) spatial(name string) Spatial {
	out := Spatial{Name: name}
	for _, n := range s {
		out.Blocks += n
	}
	for stride := 1; stride <= tenths; stride++ {
		var row []float64
		for offset := range tenths - stride + 1 {
			part := (1<<stride - 1) << offset
			hits := int64(0)
			for places, n := range s {
				if places&part != 0 {
					hits += n
				}
			}
			row = append(row, ratio(hits, out.Blocks))
		}
		out.Ratios = append(out.Ratios, row)
	}
	return out
}
