package blocks

import (
	"cmp"
	"slices"
)

// ByTime returns requests sorted by their arrival, in the order of all at equal times. After, which is a number in all before, is one in the
// result. all is not changed, and chains are shared.
func ByTime(all []Request) []Request {
	order := make([]int32, len(all))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(all[a].At, all[b].At) })
	number := make([]int32, len(all)+1) // 0 stays 0
	for place, i := range order {
		number[i+1] = int32(place + 1)
	}
	sorted := make([]Request, len(all))
	for place, i := range order {
		sorted[place] = all[i]
		sorted[place].After = number[all[i].After]
	}
	return sorted
}
