// Package generate makes traces of requests as block chains from a seed: chat and API traffic calibrated to the published statistics of
// the Qwen-Bailian traces (paper 001 §3), a prompt that grows token by token (paper 003 §2.2.3), mixes and scaled copies of any traces.
//
// Nothing in it is fitted to an eviction policy. The targets are statistics of the requests and of LRU, all of them published. They are those
// of two hours, and hold for traces of the default size: a trace of minutes has the beginnings and ends of its sessions cut off.
package generate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/cmd/reprise-lab/sim/internal/params"
)

// ErrUnknown is the error of New for a name that is not in List.
var ErrUnknown = errors.New("unknown generator of blocks")

// Param is a parameter of a generator. Every generator also has seed.
type Param = params.Param

// Info describes a generator and its parameters.
type Info struct {
	Name, Says string
	Params     []Param
}

// model is a generator as List describes it, and how it makes a trace.
type model struct {
	Info
	make func(params.Args) *blocks.Trace
}

var models = slices.Concat(qwenModels, growthModels)

// New makes the trace of a name with parameters: "qwen-a:requests=5000,seed=2". The parameter seed, where given, overrides the argument. The
// same spec and seed give the same trace in every run.
func New(spec string, seed uint64) (*blocks.Trace, error) {
	name, text, _ := strings.Cut(spec, ":")
	i := slices.IndexFunc(models, func(m model) bool { return m.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("%w %q: want one of %s", ErrUnknown, name, strings.Join(names(), ", "))
	}
	a, err := params.Read(models[i].Params, seed, text)
	if err != nil {
		return nil, fmt.Errorf("generator %q: %w", spec, err)
	}
	t := models[i].make(a)
	t.Name, t.Generated = params.Title(name, text, a.Seed), true
	return t, nil
}

func names() []string {
	var all []string
	for _, m := range models {
		all = append(all, m.Name)
	}
	return all
}

// List describes every generator and its parameters.
func List() []Info {
	var all []Info
	for _, m := range models {
		all = append(all, m.Info)
	}
	return all
}
