package blocks

import "slices"

// Compact is a trace whose blocks have new numbers without gaps, so that Distinct counts those that occur. It shares nothing with t that it
// changes.
func Compact(t *Trace) *Trace {
	out := *t
	out.Requests, out.Distinct = slices.Clone(t.Requests), 0
	number := make([]uint32, t.Distinct) // + 1; 0: none
	renumber := func(all []uint32) []uint32 {
		all = slices.Clone(all)
		for i, b := range all {
			if number[b] == 0 {
				out.Distinct++
				number[b] = uint32(out.Distinct)
			}
			all[i] = number[b] - 1
		}
		return all
	}
	for i := range out.Requests {
		r := &out.Requests[i]
		r.Blocks, r.Filled = renumber(r.Blocks), renumber(r.Filled)
	}
	return &out
}
