package choose

var _ Chooser = (*SMG)(nil)

// SMG is the policy cache_aware of SGLang's model gateway with the defaults of its command line (reference/engine-hints.md §5.A): the
// longest prefix, if it is a sufficient part of the prompt and the loads are in balance.
type SMG struct{ turns LeastLoaded }

// The gateway's options cache_threshold, balance_abs_threshold and balance_rel_threshold.
const (
	smgCached   = 0.3
	smgAbsolute = 64
	smgRelative = 1.5
)

// Choose implements Chooser.
func (c *SMG) Choose(r *Request, loads []Load) int {
	fewest, most, longest := loads[0].InFlight, loads[0].InFlight, 0
	for i := range loads {
		fewest, most = min(fewest, loads[i].InFlight), max(most, loads[i].InFlight)
		if loads[i].Cached > loads[longest].Cached {
			longest = i
		}
	}
	imbalanced := most-fewest > smgAbsolute && float64(most) > smgRelative*float64(fewest)
	if imbalanced || float64(loads[longest].Cached) <= smgCached*float64(r.Tokens) {
		return c.turns.Choose(r, loads)
	}
	return longest
}
