// Package workload generates the request traces on which the policies are studied. Each is made from a seed and is the same in
// every run: sessions over topics as in paper 002 §4.2, and the classic models that such a study omits.
//
// A workload is a name with parameters: "syn:long=0.7,weight=U,n=20000".
package workload

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"reprise/cmd/reprise-lab/sim"
	"reprise/cmd/reprise-lab/sim/internal/params"
)

// ErrUnknown is the error of Generate for a name that is not in List.
var ErrUnknown = errors.New("unknown workload")

// Info describes a workload and its parameters.
type Info struct {
	Name, Says string
	Params     []Param
}

// model is a workload as List describes it, and how it is made.
type model struct {
	Info
	make func(params.Args) ([]sim.Request, error)
}

// models is every named workload: sessions, items, then those that join several of them.
var (
	alone  = slices.Concat(sessionModels, itemModels)
	models = slices.Concat(alone, mixModels)
)

// Generate makes the trace of a name with parameters. The parameter seed, where given, overrides the argument.
func Generate(spec string, seed uint64) (*sim.Slice, error) { return generate(models, spec, seed) }

func generate(models []model, spec string, seed uint64) (*sim.Slice, error) {
	name, text, _ := strings.Cut(spec, ":")
	i := slices.IndexFunc(models, func(m model) bool { return m.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("%w %q: want one of %s", ErrUnknown, name, strings.Join(names(models), ", "))
	}
	a, err := params.Read(models[i].Params, seed, text)
	if err != nil {
		return nil, fmt.Errorf("workload %q: %w", spec, err)
	}
	all, err := models[i].make(a)
	if err != nil {
		return nil, fmt.Errorf("workload %q: %w", spec, err)
	}
	for k := range all {
		all[k].At = float64(k) // one a second
	}
	return &sim.Slice{Title: params.Title(name, text, a.Seed), All: all}, nil
}

func names(models []model) []string {
	var all []string
	for _, m := range models {
		all = append(all, m.Name)
	}
	return all
}

// List describes every workload and its parameters.
func List() []Info {
	var all []Info
	for _, m := range models {
		all = append(all, m.Info)
	}
	return all
}
