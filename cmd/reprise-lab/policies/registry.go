// Package policies has the policies of replays by name: those that serve, and those that they are compared with.
//
// A new policy is a file here, or in package kv if it is made for KV blocks, with its spec, type, constructor, Insert, Hit, Victim, Remove and
// helpers in that order, and a line in the list here. With that the conformance tests run it, and so do replays.
package policies

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"reprise/cmd/reprise-lab/policies/kv"
	"reprise/policy"
	"reprise/policy/classic"
	"reprise/policy/haz"
	"reprise/policy/panel"
	"reprise/policy/rac"
)

// All lists every policy, the simple ones first.
var All = policy.Set{
	&fifoSpec, &classic.LRUSpec, &lfuSpec, &clockSpec, &randomSpec, &classic.TTLSpec, &ttlSlidingSpec,
	&sieveSpec, &twoQSpec, &arcSpec, &classic.S3FIFOSpec, &classic.TinyLFUSpec, &classic.LIRSSpec,
	&lhdSpec, &lecarSpec, &cacheusSpec,
	&kv.GDSFSpec, &kv.GDFSSpec, &lfudaSpec, &kv.AgingLFUSpec,
	&kv.WASpec, &kv.WAPlusSpec, &kv.LPCSpec, &kv.HybridSpec,
	&rac.Spec, &rac.PaperSpec, &noTPSpec, &noTSISpec,
	&haz.Spec, &panel.Spec,
}

// New makes an empty evictor of a name that may be followed by parameters: "lru", "rac:alpha=0.1/C,lambda=2".
func New(name string, o policy.Options) (policy.Evictor, error) { return All.New(name, o) }

// Check reports what is wrong with a name and its parameters, as New would at some capacity.
func Check(name string) error {
	_, _, err := All.Read(name, policy.Options{Capacity: 1000})
	return err
}

// Parameters returns all parameters of a name under these options, its own and the defaults, as key=value between commas; a number that is
// given in capacities is multiplied out. It returns "" where New would fail, or the policy has none.
func Parameters(name string, o policy.Options) string {
	s, args, err := All.Read(name, o)
	if err != nil {
		return ""
	}
	var all []string
	for _, p := range s.Params {
		value := args.Choice(p.Name)
		if value == "" {
			value = text(args.Num(p.Name))
		}
		all = append(all, p.Name+"="+value)
	}
	return strings.Join(all, ",")
}

func text(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// CountsTokens reports whether a name under these options maximises the tokens that its hits save, and not their number. It is false where
// New would fail.
func CountsTokens(name string, o policy.Options) bool {
	_, args, err := All.Read(name, o)
	return err == nil && args.Value().CountsTokens()
}

// Relational reports whether a policy of that name, with or without parameters, uses topics and dependencies. All others are baselines.
func Relational(name string) bool {
	return isOne(name, "rac", "rac-paper", "rac-no-tp", "rac-no-tsi", "haz", "rac+")
}

// ForBlocks reports whether a policy of that name, with or without parameters, needs what only KV blocks have: categories, predictions and places
// in a chain. Over entries without it wa is lru, wa+, lpc and lpc-wa nearly so, and gdfs is gdsf.
func ForBlocks(name string) bool { return isOne(name, "wa", "wa+", "lpc", "lpc-wa", "gdfs") }

func isOne(name string, of ...string) bool {
	name, _, _ = strings.Cut(name, ":")
	return slices.Contains(of, name)
}
