// Package params reads the parameters of generated traces: "key=value,key=value" over defaults, with a seed.
package params

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Param is a parameter of a generator. Its value is one of Choices or, where there are none, a number from Min to Max. Every
// generator also has seed.
type Param struct {
	Name, Says string
	Default    string
	Choices    []string
	Min, Max   float64
	Whole      bool // only whole numbers
}

// Args are the parameters of one trace, every one of them valid and set.
type Args struct {
	Seed    uint64
	numbers map[string]float64
	choices map[string]string
}

// Num is the value of a parameter that is a number.
func (a Args) Num(name string) float64 { return a.numbers[name] }

// Whole is the value of a parameter that is a whole number.
func (a Args) Whole(name string) int { return int(a.numbers[name]) }

// Choice is the value of a parameter that has choices.
func (a Args) Choice(name string) string { return a.choices[name] }

// Read reads "key=value,key=value" over the defaults of all. The parameter seed, where given, overrides the argument.
func Read(all []Param, seed uint64, text string) (Args, error) {
	a := Args{Seed: seed, numbers: map[string]float64{}, choices: map[string]string{}}
	for _, p := range all {
		if err := a.set(p, p.Default); err != nil {
			return a, err
		}
	}
	if text == "" {
		return a, nil
	}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return a, fmt.Errorf("%q is no parameter: want key=value", pair)
		}
		if err := a.setNamed(all, name, value); err != nil {
			return a, err
		}
	}
	return a, nil
}

func (a *Args) setNamed(all []Param, name, value string) (err error) {
	if name == "seed" {
		if a.Seed, err = strconv.ParseUint(value, 10, 64); err != nil {
			return fmt.Errorf("seed=%s: want a whole number from 0 to 2^64-1", value)
		}
		return nil
	}
	k := slices.IndexFunc(all, func(p Param) bool { return p.Name == name })
	if k < 0 {
		return fmt.Errorf("no parameter %q: want %s", name, known(all))
	}
	return a.set(all[k], value)
}

func known(all []Param) string {
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	return strings.Join(append(names, "seed"), ", ")
}

func (a *Args) set(p Param, value string) error {
	if p.Choices != nil {
		if !slices.Contains(p.Choices, value) {
			return fmt.Errorf("%s=%s: want %s", p.Name, value, strings.Join(p.Choices, " or "))
		}
		a.choices[p.Name] = value
		return nil
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || !(n >= p.Min && n <= p.Max) || p.Whole && n != math.Trunc(n) {
		return fmt.Errorf("%s=%s: want %s from %s to %s", p.Name, value, p.kind(), Text(p.Min), Text(p.Max))
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

// Text is a number as Read reads it.
func Text(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// As is p with another default.
func (p Param) As(value string) Param {
	p.Default = value
	return p
}

// Title is the spec "name:key=value,…,seed=…" that makes the same trace again, whatever seed is the default. text is as it was read.
func Title(name, text string, seed uint64) string {
	var kept []string
	for pair := range strings.SplitSeq(text, ",") {
		if pair != "" && !strings.HasPrefix(pair, "seed=") {
			kept = append(kept, pair)
		}
	}
	return name + ":" + strings.Join(append(kept, "seed="+strconv.FormatUint(seed, 10)), ",")
}
