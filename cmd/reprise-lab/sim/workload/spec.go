package workload

import (
	"slices"
	"strings"

	"reprise/cmd/reprise-lab/sim/internal/params"
)

// Param is a parameter of a workload. Every workload also has seed.
type Param = params.Param

// with is all with other defaults: name, value, name, value.
func with(all []Param, defaults ...string) []Param {
	all = slices.Clone(all)
	for i := 0; i < len(defaults); i += 2 {
		k := slices.IndexFunc(all, func(p Param) bool { return p.Name == defaults[i] })
		all[k] = all[k].As(defaults[i+1])
	}
	return all
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
