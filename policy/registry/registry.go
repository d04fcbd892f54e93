// Package registry has the policies that serve, by their names.
//
// A new policy is a file in the package of its family (policy/classic if it has none), with its spec, type, constructor,
// Insert, Hit, Victim, Remove and helpers in that order, and a line in the list here. With that the conformance tests run it,
// and so does the proxy. Policies that are only compared with these in replays are in cmd/reprise-lab/policies.
package registry

import (
	"slices"

	"reprise/policy"
	"reprise/policy/classic"
	"reprise/policy/haz"
	"reprise/policy/panel"
	"reprise/policy/rac"
)

// policies lists the policies that serve, the simple ones first.
var policies = policy.Set{
	&classic.LRUSpec, &classic.TTLSpec, &classic.S3FIFOSpec, &classic.TinyLFUSpec, &classic.LIRSSpec, &rac.Spec, &rac.PaperSpec, &haz.Spec, &panel.Spec,
}

// replayed lists the names of policies that only replays have, in the laboratory.
var replayed = []string{
	"fifo", "lfu", "sieve", "gdsf", "aging-lfu", "clock", "random", "ttl-sliding", "2q", "arc", "lhd", "lecar", "cacheus", "gdfs", "lfu-da", "wa", "wa+", "lpc", "lpc-wa", "rac-no-tp", "rac-no-tsi",
}

// New makes an empty evictor of a name that may be followed by parameters: "lru", "rac:alpha=0.1/C,lambda=2".
func New(name string, o policy.Options) (policy.Evictor, error) { return policies.New(name, o) }

// Check reports what is wrong with a name and its parameters, as New would at some capacity.
func Check(name string) error { return CheckWith(name, policy.Options{Capacity: 1000}) }

// CheckWith reports what New would find wrong with a name under these options.
func CheckWith(name string, o policy.Options) error {
	_, _, err := policies.Read(name, o)
	return err
}

// Replayed reports whether only replays have a policy of that name.
func Replayed(name string) bool { return slices.Contains(replayed, name) }

// Names are the names that New accepts, the simple policies first.
func Names() []string { return policies.Names() }

// List returns all policies, in the order of Names.
func List() policy.Set { return policies }
