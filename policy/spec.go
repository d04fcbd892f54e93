package policy

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// spec is what the registry knows of a policy.
type spec struct {
	name, says string
	relational bool // goes by topics and dependencies
	params     []Param
	make       func(args) Evictor
}

// Param is a parameter of a policy. Its value is one of Choices or, where there are none, a number from Min to Max; a number
// may be written in capacities: "2C" is twice the capacity, "0.1/C" a tenth divided by it.
type Param struct {
	Name, Says string
	Default    string
	Choices    []string
	Min, Max   float64
}

// args are the parameters of one policy, every one of them valid and set.
type args struct {
	Options
	numbers map[string]float64
	choices map[string]string
}

func (a args) num(name string) float64   { return a.numbers[name] }
func (a args) choice(name string) string { return a.choices[name] }

// whole is a number of entries, rounded down.
func (a args) whole(name string) int { return int(a.numbers[name]) }

// args reads "key=value,key=value" over the values of o.Params over the defaults.
func (s *spec) args(o Options, params string) (args, error) {
	a := args{Options: o, numbers: map[string]float64{}, choices: map[string]string{}}
	for _, p := range s.params {
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
		i := slices.IndexFunc(s.params, func(p Param) bool { return p.Name == name })
		switch {
		case !ok:
			return a, fmt.Errorf("%q is no parameter: want key=value", pair)
		case i < 0:
			return a, fmt.Errorf("no parameter %q: %s", name, s.known())
		}
		if err := a.set(s.params[i], value); err != nil {
			return a, err
		}
	}
	return a, nil
}

func (s *spec) known() string {
	if len(s.params) == 0 {
		return s.name + " has none"
	}
	var names []string
	for _, p := range s.params {
		names = append(names, p.Name)
	}
	return "want " + strings.Join(names, ", ")
}

func (a args) set(p Param, value string) error {
	if p.Choices != nil {
		if !slices.Contains(p.Choices, value) {
			return fmt.Errorf("%s=%s: want %s", p.Name, value, strings.Join(p.Choices, " or "))
		}
		a.choices[p.Name] = value
		return nil
	}
	n, err := number(value, a.Capacity)
	if err != nil || !(n >= p.Min && n <= p.Max) {
		return fmt.Errorf("%s=%s: want a number from %s to %s, which may be in capacities as 2C or 0.1/C",
			p.Name, value, text(p.Min), text(p.Max))
	}
	a.numbers[p.Name] = n
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
