package policy

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// ErrUnknown is the error of New for a name that is not in Names.
var ErrUnknown = errors.New("unknown policy")

// Options are the settings of the policies that can be made by name; each takes what it has a use for.
type Options struct {
	// Capacity is the number of entries that will be resident, at least 1. Parameters are measured in it; it limits
	// nothing, that is the Ledger's.
	Capacity int
	// HalfLife is the number of requests in which the prevalence of a topic halves (rac); 0 is a third of Capacity.
	HalfLife float64
	// DependencyWeight is the weight of dependents against own requests (rac); 0 takes no notice of them.
	DependencyWeight float64
	// CostAware values an entry by cost per byte, for a capacity in bytes (rac).
	CostAware bool
}

// DefaultOptions are the measured settings for a capacity.
func DefaultOptions(capacity int) Options {
	return Options{Capacity: capacity, DependencyWeight: RACTuned(capacity).Lambda}
}

// Validate names the first field that is out of range, its value and what is allowed.
func (o Options) Validate() error {
	switch {
	case o.Capacity < 1:
		return fmt.Errorf("capacity %d: want at least 1 entry", o.Capacity)
	case !(o.HalfLife >= 0) || math.IsInf(o.HalfLife, 1):
		return fmt.Errorf("half-life %v: want a number of requests, or 0 for a third of the capacity", o.HalfLife)
	case !(o.DependencyWeight >= 0) || math.IsInf(o.DependencyWeight, 1):
		return fmt.Errorf("dependency weight %v: want a finite number, 0 or more", o.DependencyWeight)
	}
	return nil
}

// policies is every policy that has a name. A new one is a file of its own (constructor, Insert, Hit, Victim, Remove,
// helpers) and a line here.
var policies = []struct {
	name string
	make func(Options) Evictor
}{
	{"lru", func(Options) Evictor { return NewLRU() }},
	{"rac", func(o Options) Evictor { return NewRAC(racFrom(o)) }},
	{"rac-paper", func(Options) Evictor { return NewRAC(RACPaper()) }},
}

// New makes an empty evictor by name. The settings of a policy that is named after its publication, as rac-paper, are
// that publication's, whatever o says.
func New(name string, o Options) (Evictor, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("make policy %q: %w", name, err)
	}
	for _, p := range policies {
		if p.name == name {
			return p.make(o), nil
		}
	}
	return nil, fmt.Errorf("%w %q: want one of %s", ErrUnknown, name, strings.Join(Names(), ", "))
}

// Names are the names that New knows, sorted.
func Names() []string {
	var names []string
	for _, p := range policies {
		names = append(names, p.name)
	}
	slices.Sort(names)
	return names
}

func racFrom(o Options) RACOptions {
	r := RACTuned(o.Capacity)
	if o.HalfLife > 0 {
		r.Alpha = 1 / o.HalfLife
	}
	r.Lambda, r.CostAware = o.DependencyWeight, o.CostAware
	return r
}
