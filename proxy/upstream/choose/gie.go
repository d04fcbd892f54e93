package choose

var _ Chooser = (*GIE)(nil)

// GIE is the endpoint picker of the Gateway API Inference Extension and of llm-d (reference/engine-hints.md §5.C): the highest sum of
// three scores in [0, 1], of the prefix, of the queue and of the KV cache in use, with the weights of its default profile.
type GIE struct{ turns LeastLoaded }

const (
	giePrefix = 3
	gieQueue  = 2
	gieKV     = 2
)

// Choose implements Chooser. Of replicas with equal scores it takes the least loaded.
func (c *GIE) Choose(r *Request, loads []Load) int {
	shortest, longest := loads[0].InFlight, loads[0].InFlight
	for i := range loads {
		shortest, longest = min(shortest, loads[i].InFlight), max(longest, loads[i].InFlight)
	}
	score := func(l *Load) float64 {
		queue := 1.0
		if longest > shortest {
			queue = float64(longest-l.InFlight) / float64(longest-shortest)
		}
		return giePrefix*part(l.Cached, r.Tokens) + gieQueue*queue + gieKV*(1-part(l.Active, l.Capacity))
	}
	best := c.turns.Choose(r, loads)
	highest := score(&loads[best])
	for i := range loads {
		if s := score(&loads[i]); s > highest {
			best, highest = i, s
		}
	}
	return best
}

// part is n as a part of all, at most 1.
func part(n, all int) float64 { return min(1, float64(n)/float64(max(1, all))) }
