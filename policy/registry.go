package policy

import (
	"errors"
	"fmt"
	"strings"
)

// ErrUnknown is the error of New for a name that is not in Names.
var ErrUnknown = errors.New("unknown policy")

// Options are what every policy is made with.
type Options struct {
	// Capacity is the number of entries that will be resident, at least 1; an estimate where the limit is in bytes.
	// Parameters are measured in it; it limits nothing, that is the Ledger's.
	Capacity int
	// Bytes tells that the limit is in bytes: policies that can value an entry by cost per byte then do by default.
	Bytes bool
	// Seed starts the random numbers of those policies that draw any.
	Seed uint64
	// Params are values for the parameters of these names. A policy that lacks one ignores it; the name given to New may
	// set the same parameter and wins.
	Params map[string]string
}

// Validate names the first field that is out of range, its value and what is allowed.
func (o Options) Validate() error {
	if o.Capacity < 1 {
		return fmt.Errorf("capacity %d: want at least 1 entry", o.Capacity)
	}
	return nil
}

// policies is every policy that has a name. A new one is a file of its own (its spec, constructor, Insert, Hit, Victim,
// Remove, helpers) and a line here.
var policies = []*spec{
	&fifoSpec, &lruSpec, &lfuSpec, &clockSpec, &randomSpec, &ttlSpec, &ttlSlidingSpec,
	&sieveSpec, &twoQSpec, &arcSpec, &s3fifoSpec, &tinyLFUSpec, &lirsSpec,
	&lhdSpec, &lecarSpec, &cacheusSpec,
	&gdsfSpec, &lfuDASpec, &agingLFUSpec,
	&racSpec, &racPaperSpec, &racNoTPSpec, &racNoTSISpec,
	&hazSpec, &racPlusSpec,
}

// New makes an empty evictor of a name that may be followed by parameters: "lru", "rac:alpha=0.1/C,lambda=2".
func New(name string, o Options) (Evictor, error) {
	s, a, err := o.read(name)
	if err != nil {
		return nil, err
	}
	return s.make(a), nil
}

// Check reports what is wrong with a name and its parameters, as New would at some capacity.
func Check(name string) error { return Options{Capacity: 1000}.Check(name) }

// Check reports what New would find wrong with a name under these options.
func (o Options) Check(name string) error {
	_, _, err := o.read(name)
	return err
}

func (o Options) read(name string) (*spec, args, error) {
	if err := o.Validate(); err != nil {
		return nil, args{}, fmt.Errorf("make policy %q: %w", name, err)
	}
	base, params, _ := strings.Cut(name, ":")
	s, err := lookup(base)
	if err != nil {
		return nil, args{}, err
	}
	a, err := s.args(o, params)
	if err != nil {
		return nil, args{}, fmt.Errorf("policy %q: %w", name, err)
	}
	return s, a, nil
}

func lookup(name string) (*spec, error) {
	for _, s := range policies {
		if s.name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%w %q: want one of %s", ErrUnknown, name, strings.Join(Names(), ", "))
}

// Relational reports whether a policy of that name, with or without parameters, goes by topics and dependencies. All others
// are baselines.
func Relational(name string) bool {
	name, _, _ = strings.Cut(name, ":")
	s, err := lookup(name)
	return err == nil && s.relational
}

// Names are the names that New knows, the simple ones first.
func Names() []string {
	var names []string
	for _, s := range policies {
		names = append(names, s.name)
	}
	return names
}

// Info tells of a policy and its parameters.
type Info struct {
	Name, Says string
	Params     []Param
}

// List tells of every policy, in the order of Names.
func List() []Info {
	var all []Info
	for _, s := range policies {
		all = append(all, Info{Name: s.name, Says: s.says, Params: s.params})
	}
	return all
}
