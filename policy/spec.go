package policy

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Spec describes a policy to the registry.
type Spec struct {
	Name, Says string
	Params     []Param
	New        func(Args) Evictor
}

// Args are the parameters of one policy, every one of them valid and set.
type Args struct {
	Options
	numbers map[string]float64
	choices map[string]string
}

// Num is the value of a parameter that is a number.
func (a Args) Num(name string) float64 { return a.numbers[name] }

// Choice is the value of a parameter that has choices, "" where it is a number.
func (a Args) Choice(name string) string { return a.choices[name] }

// Whole is a number of entries, rounded down.
func (a Args) Whole(name string) int { return int(a.numbers[name]) }

// Args reads "key=value,key=value" over the values of o.Params over the defaults.
func (s *Spec) Args(o Options, params string) (Args, error) {
	a := Args{Options: o, numbers: map[string]float64{}, choices: map[string]string{}}
	for _, p := range s.Params {
		value := p.Default
		if v, ok := o.Params[p.Name]; ok {
			value = v
		}
		if err := a.set(p, value); err != nil {
			return a, err
		}
	}
	if params == "" {
		return a, nil
	}
	for pair := range strings.SplitSeq(params, ",") {
		name, value, ok := strings.Cut(pair, "=")
		i := slices.IndexFunc(s.Params, func(p Param) bool { return p.Name == name })
		switch {
		case !ok:
			return a, fmt.Errorf("%q is no parameter: want key=value", pair)
		case i < 0:
			return a, fmt.Errorf("no parameter %q: %s", name, s.known())
		}
		if err := a.set(s.Params[i], value); err != nil {
			return a, err
		}
	}
	return a, nil
}

func (s *Spec) known() string {
	if len(s.Params) == 0 {
		return s.Name + " has none"
	}
	var names []string
	for _, p := range s.Params {
		names = append(names, p.Name)
	}
	return "want " + strings.Join(names, ", ")
}

func (a Args) set(p Param, value string) error {
	if slices.Contains(p.Choices, value) {
		a.choices[p.Name] = value
		return nil
	}
	choices := strings.Join(p.Choices, " or ")
	if p.Choices != nil && p.Max == 0 {
		return fmt.Errorf("%s=%s: want %s", p.Name, value, choices)
	}
	n, err := number(value, a.Capacity)
	if err != nil || !(n >= p.Min && n <= p.Max) {
		if choices != "" {
			choices += " or "
		}
		return fmt.Errorf("%s=%s: want %sa number from %s to %s, which may be in capacities as 2C or 0.1/C",
			p.Name, value, choices, text(p.Min), text(p.Max))
	}
	a.numbers[p.Name] = n
	delete(a.choices, p.Name)
	return nil
}

func number(value string, capacity int) (float64, error) {
	c := float64(capacity)
	scale := 1.0
	if v, ok := strings.CutSuffix(value, "/C"); ok {
		value, scale = v, 1/c
	} else if v, ok := strings.CutSuffix(value, "C"); ok {
		value, scale = v, c
	}
	if value == "" && scale == c {
		value = "1"
	}
	n, err := strconv.ParseFloat(value, 64)
	return n * scale, err
}

func text(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Set is policies that can be made by their names.
type Set []*Spec

// New makes an empty evictor of a name that may be followed by parameters: "lru", "rac:alpha=0.1/C,lambda=2".
func (all Set) New(name string, o Options) (Evictor, error) {
	s, a, err := all.Read(name, o)
	if err != nil {
		return nil, err
	}
	return s.New(a), nil
}

// Read finds the policy and its parameters.
func (all Set) Read(name string, o Options) (*Spec, Args, error) {
	if o.Capacity < 1 {
		return nil, Args{}, fmt.Errorf("make policy %q: capacity %d: want at least 1 entry", name, o.Capacity)
	}
	base, params, _ := strings.Cut(name, ":")
	s, err := all.Find(base)
	if err != nil {
		return nil, Args{}, err
	}
	a, err := s.Args(o, params)
	if err != nil {
		return nil, Args{}, fmt.Errorf("policy %q: %w", name, err)
	}
	return s, a, nil
}

// Find is the policy of that name.
func (all Set) Find(name string) (*Spec, error) {
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%w %q: want one of %s", ErrUnknown, name, strings.Join(all.Names(), ", "))
}

// Names are those of all, in their order.
func (all Set) Names() (names []string) {
	for _, s := range all {
		names = append(names, s.Name)
	}
	return names
}
