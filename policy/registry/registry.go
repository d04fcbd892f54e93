// Package registry has every policy by its name.
//
// A new policy is a file in the package of its family (policy/classic if it has none), with its spec, type, constructor,
// Insert, Hit, Victim, Remove and helpers in that order, and a line in the list here. With that the conformance tests run it,
// and so do the replay and the proxy.
package registry

import (
	"strings"

	"reprise/policy"
	"reprise/policy/classic"
	"reprise/policy/haz"
	"reprise/policy/kv"
	"reprise/policy/panel"
	"reprise/policy/rac"
	"reprise/policy/spec"
)

// policies is every policy, in the order in which they are listed.
var policies = spec.Set{
	&classic.FIFOSpec, &classic.LRUSpec, &classic.LFUSpec, &classic.ClockSpec, &classic.RandomSpec, &classic.TTLSpec, &classic.TTLSlidingSpec,
	&classic.SieveSpec, &classic.TwoQSpec, &classic.ARCSpec, &classic.S3FIFOSpec, &classic.TinyLFUSpec, &classic.LIRSSpec,
	&classic.LHDSpec, &classic.LeCaRSpec, &classic.CacheusSpec,
	&classic.GDSFSpec, &classic.GDFSSpec, &classic.LFUDASpec, &classic.AgingLFUSpec,
	&kv.WASpec, &kv.WAPlusSpec, &kv.LPCSpec, &kv.HybridSpec,
	&rac.Spec, &rac.PaperSpec, &rac.NoTPSpec, &rac.NoTSISpec,
	&haz.Spec, &panel.Spec,
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

// Parameters are all parameters of a name under these options, its own and the defaults, as key=value between commas; what is given in
// capacities is a number there. "" where New would fail, or the policy has none.
func Parameters(name string, o policy.Options) string {
	s, args, err := policies.Read(name, o)
	if err != nil {
		return ""
	}
	return s.Text(args)
}

// CountsTokens reports whether a name under these options is judged by the tokens that its hits save, and not by their number: by its
// parameter value; or else, as by value=auto, under a limit in bytes. False where New would fail.
func CountsTokens(name string, o policy.Options) bool {
	_, args, err := policies.Read(name, o)
	return err == nil && args.Value().CountsTokens()
}

// Relational reports whether a policy of that name, with or without parameters, goes by topics and dependencies. All others
// are baselines.
func Relational(name string) bool {
	name, _, _ = strings.Cut(name, ":")
	s, err := policies.Find(name)
	return err == nil && s.Relational
}

// ForBlocks reports whether a policy of that name, with or without parameters, needs what only KV blocks have. Over entries without it wa
// is lru, wa+, lpc and lpc-wa nearly so, and gdfs is gdsf.
func ForBlocks(name string) bool {
	name, _, _ = strings.Cut(name, ":")
	s, err := policies.Find(name)
	return err == nil && s.Blocks
}

// Names are the names that New accepts, the simple policies first.
func Names() []string { return policies.Names() }

// Info describes a policy and its parameters.
type Info struct {
	Name, Says string
	Params     []policy.Param
}

// List describes every policy, in the order of Names.
func List() []Info {
	var all []Info
	for _, s := range policies {
		all = append(all, Info{Name: s.Name, Says: s.Says, Params: s.Params})
	}
	return all
}
