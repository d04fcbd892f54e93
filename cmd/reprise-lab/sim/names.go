package sim

import (
	"fmt"
	"slices"
	"strings"

	"reprise/cmd/reprise-lab/policies"
	"reprise/policy"
)

// infinite is the name of the cache that keeps everything. It has no evictor: its hits depend only on the trace.
const infinite = "infinite"

// bounds are the policies of this package, which cannot run in practice.
var bounds = map[string]func() Clairvoyant{
	"belady":        func() Clairvoyant { return NewBelady(false) },
	"belady-bypass": func() Clairvoyant { return NewBelady(true) },
	"count-oracle":  func() Clairvoyant { return NewCountOracle() },
	infinite:        nil,
}

// PolicyNames are the names of all policies of Replay; the last ones cannot run in practice.
func PolicyNames() []string {
	return append(policies.All.Names(), "belady", "belady-bypass", "infinite", "count-oracle")
}

// isBound reports whether a policy is Clairvoyant or has no limit, so that it cannot run in practice.
func isBound(name string) bool {
	_, ok := bounds[name]
	return ok
}

// checkPolicy returns what is wrong with a name and its parameters.
func checkPolicy(name string) error {
	base, _, parameters := strings.Cut(name, ":")
	switch {
	case !slices.Contains(PolicyNames(), base):
		return fmt.Errorf("%w %q: want one of %s", policy.ErrUnknown, base, strings.Join(PolicyNames(), ", "))
	case isBound(base) && parameters:
		return fmt.Errorf("policy %q: %s has no parameters", name, base)
	case isBound(base):
		return nil
	}
	return policies.Check(name)
}

// ParsePolicies reads a list of policies of Replay, as ListPolicies does. "all" is all of them, except those for KV blocks.
func ParsePolicies(s string) ([]string, error) {
	return ListPolicies(s, slices.DeleteFunc(PolicyNames(), policies.ForBlocks), checkPolicy)
}

// ListPolicies reads a list of names, each with its parameters if any: "lru,rac:alpha=1/C,lambda=2,sieve". "all" is those of all. A name
// that occurs twice counts once. check returns what is wrong with one, and ends the reading.
func ListPolicies(s string, all []string, check func(string) error) ([]string, error) {
	var names []string
	for piece := range strings.SplitSeq(s, ",") {
		piece = strings.TrimSpace(piece)
		switch {
		case piece == "all":
			names = append(names, all...)
		case len(names) > 0 && strings.Contains(piece, "=") && !strings.Contains(piece, ":"):
			names[len(names)-1] += "," + piece // a parameter of the name before
		default:
			names = append(names, piece)
		}
	}
	var once []string
	for _, name := range names {
		if err := check(name); err != nil {
			return nil, err
		}
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return once, nil
}
