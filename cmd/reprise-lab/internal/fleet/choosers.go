package fleet

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"

	"reprise/proxy/upstream/prefix"
)

// choosers are the chooser of the proxy, and those with which it is compared: simple rules, chance, and those of other products.
var choosers = map[string]func(seed uint64) prefix.Chooser{
	"prefix":       func(uint64) prefix.Chooser { return &prefix.ByPrefix{} },
	"least-loaded": func(uint64) prefix.Chooser { return &prefix.LeastLoaded{} },
	"round-robin":  func(uint64) prefix.Chooser { return &roundRobin{} },
	"ring":         func(uint64) prefix.Chooser { return &ring{} },
	"random":       func(seed uint64) prefix.Chooser { return random{rand.New(rand.NewPCG(seed, 0))} },
	"smg":          func(uint64) prefix.Chooser { return &smg{} },
	"gie":          func(uint64) prefix.Chooser { return &gie{} },
	"dynamo":       func(uint64) prefix.Chooser { return &dynamo{} },
}

// Choosers lists the names of all choosers, Oracle last.
func Choosers() []string {
	return []string{"prefix", "least-loaded", "round-robin", "ring", "random", "smg", "gie", "dynamo", Oracle}
}

// newChooser returns the chooser called name. The seed is that of its random numbers, if it uses any.
func newChooser(name string, seed uint64) (prefix.Chooser, error) {
	made, ok := choosers[name]
	if !ok {
		return nil, fmt.Errorf("chooser %q is not one of %s", name, strings.Join(Choosers(), ", "))
	}
	return made(seed), nil
}

// roundRobin sends each request to the next replica. One with a share below 1 is left out in so many of its turns.
type roundRobin struct{ turn atomic.Uint64 }

// Choose implements prefix.Chooser.
func (c *roundRobin) Choose(_ *prefix.Request, loads []prefix.Load) int {
	n := uint64(len(loads))
	turn := c.turn.Add(1) - 1
	at := int(turn % n)
	for range loads {
		// The multiples of the golden ratio are spread evenly, so a share of them is below the share.
		if round := float64(turn/n) * 0.618033988749895; round-float64(int(round)) < loads[at].Share {
			return at
		}
		at = (at + 1) % len(loads)
	}
	return at
}

// ring is consistent hashing with bounded loads: a request goes to the first replica for its key that is below its limit
// (reference/engine-hints.md §5.G). It needs no knowledge of what the replicas hold.
type ring struct{ turns prefix.LeastLoaded }

// ringBalance is the factor c of §5.G.
const ringBalance = 1.25

// Choose implements prefix.Chooser.
func (c *ring) Choose(r *prefix.Request, loads []prefix.Load) int {
	if r.Key == 0 {
		return c.turns.Choose(r, loads)
	}
	return prefix.Owner(r.Key, loads, ringBalance)
}

// random sends a request to any replica, with a probability in proportion to its share. It is not safe for concurrent use.
type random struct{ rng *rand.Rand }

// Choose implements prefix.Chooser.
func (c random) Choose(_ *prefix.Request, loads []prefix.Load) int {
	shares := 0.0
	for i := range loads {
		shares += loads[i].Share
	}
	at := c.rng.Float64() * shares
	for i := range loads {
		if at -= loads[i].Share; at < 0 {
			return i
		}
	}
	return len(loads) - 1
}

// smg is the policy cache_aware of SGLang's model gateway with the defaults of its command line (reference/engine-hints.md §5.A): the
// longest prefix, if it is a sufficient part of the prompt and the loads are in balance.
type smg struct{ turns prefix.LeastLoaded }

// The gateway's options cache_threshold, balance_abs_threshold and balance_rel_threshold.
const (
	smgCached   = 0.3
	smgAbsolute = 64
	smgRelative = 1.5
)

// Choose implements prefix.Chooser.
func (c *smg) Choose(r *prefix.Request, loads []prefix.Load) int {
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

// gie is the endpoint picker of the Gateway API Inference Extension and of llm-d (reference/engine-hints.md §5.C): the highest sum of
// three scores in [0, 1], of the prefix, of the queue and of the KV cache in use, with the weights of its default profile.
type gie struct{ turns prefix.LeastLoaded }

const (
	giePrefix = 3
	gieQueue  = 2
	gieKV     = 2
)

// Choose implements prefix.Chooser. Of replicas with equal scores it takes the least loaded.
func (c *gie) Choose(r *prefix.Request, loads []prefix.Load) int {
	shortest, longest := loads[0].InFlight, loads[0].InFlight
	for i := range loads {
		shortest, longest = min(shortest, loads[i].InFlight), max(longest, loads[i].InFlight)
	}
	score := func(l *prefix.Load) float64 {
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

// dynamo is the KV router of NVIDIA Dynamo (reference/engine-hints.md §5.E): the lowest sum, in blocks, of what is to be prefilled with
// the request and of what is in use with it.
type dynamo struct{ turns prefix.LeastLoaded }

// Choose implements prefix.Chooser. Of replicas with equal costs it takes the least loaded.
func (c *dynamo) Choose(r *prefix.Request, loads []prefix.Load) int {
	cost := func(l *prefix.Load) float64 {
		uncached := max(0, r.Tokens-l.Cached)
		return float64(l.Pending+uncached+l.Active+uncached) / prefix.BlockTokens
	}
	best := c.turns.Choose(r, loads)
	least := cost(&loads[best])
	for i := range loads {
		if at := cost(&loads[i]); at < least {
			best, least = i, at
		}
	}
	return best
}
