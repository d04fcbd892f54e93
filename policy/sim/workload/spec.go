package workload

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Param is a parameter of a workload. Its value is one of Choices or, where there are none, a number from Min to Max. Every
// workload also has seed.
type Param struct {
	Name, Says string
	Default    string
	Choices    []string
	Min, Max   float64
	Whole      bool // only whole numbers
}

// args are the parameters of one workload, every one of them valid and set.
type args struct {
	seed    uint64
	numbers map[string]float64
	choices map[string]string
}

func (a args) num(name string) float64   { return a.numbers[name] }
func (a args) whole(name string) int     { return int(a.numbers[name]) }
func (a args) choice(name string) string { return a.choices[name] }

// args reads "key=value,key=value" over the defaults.
func (i Info) args(seed uint64, params string) (args, error) {
	a := args{seed: seed, numbers: map[string]float64{}, choices: map[string]string{}}
	for _, p := range i.Params {
		if err := a.set(p, p.Default); err != nil {
			return a, err
		}
	}
	if params == "" {
		return a, nil
	}
	for pair := range strings.SplitSeq(params, ",") {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return a, fmt.Errorf("%q is no parameter: want key=value", pair)
		}
		if err := a.setNamed(i, name, value); err != nil {
			return a, err
		}
	}
	return a, nil
}

func (a *args) setNamed(i Info, name, value string) (err error) {
	if name == "seed" {
		if a.seed, err = strconv.ParseUint(value, 10, 64); err != nil {
			return fmt.Errorf("seed=%s: want a whole number from 0 to 2^64-1", value)
		}
		return nil
	}
	k := slices.IndexFunc(i.Params, func(p Param) bool { return p.Name == name })
	if k < 0 {
		return fmt.Errorf("no parameter %q: want %s", name, i.known())
	}
	return a.set(i.Params[k], value)
}

func (i Info) known() string {
	var all []string
	for _, p := range i.Params {
		all = append(all, p.Name)
	}
	return strings.Join(append(all, "seed"), ", ")
}

func (a *args) set(p Param, value string) error {
	if p.Choices != nil {
		if !slices.Contains(p.Choices, value) {
			return fmt.Errorf("%s=%s: want %s", p.Name, value, strings.Join(p.Choices, " or "))
		}
		a.choices[p.Name] = value
		return nil
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || !(n >= p.Min && n <= p.Max) || p.Whole && n != math.Trunc(n) {
		return fmt.Errorf("%s=%s: want %s from %s to %s", p.Name, value, p.kind(), text(p.Min), text(p.Max))
	}
	a.numbers[p.Name] = n
	return nil
}

func (p Param) kind() string {
	if p.Whole {
		return "a whole number"
	}
	return "a number"
}

func text(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// as is p with another default.
func (p Param) as(value string) Param {
	p.Default = value
	return p
}

// with is params with other defaults: name, value, name, value.
func with(params []Param, defaults ...string) []Param {
	params = slices.Clone(params)
	for i := 0; i < len(defaults); i += 2 {
		k := slices.IndexFunc(params, func(p Param) bool { return p.Name == defaults[i] })
		params[k] = params[k].as(defaults[i+1])
	}
	return params
}

// requests is the parameter that every workload begins with.
func requests(n string) Param {
	return Param{Name: "n", Says: "requests", Default: n, Min: 1, Max: 1e8, Whole: true}
}

// extend is a spec with one more parameter, which replaces an earlier value.
func extend(spec, pair string) string {
	if strings.Contains(spec, ":") {
		return spec + "," + pair
	}
	return spec + ":" + pair
}
