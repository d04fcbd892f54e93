package rac

import (
	"reprise/policy"
)

// The parameters of RAC. Other readings of paper 002 (time by misses or by episodes, dependents of dependents, a share of the visits in place
// of a count, less credit for an insertion, a memory of evicted entries) were measured and are not here: none is better on all traces.
var (
	lambdaParam = policy.Param{Name: "lambda", Says: "weight of dependents against own requests", Default: "1", Max: 1e6}

	params = []policy.Param{
		{Name: "alpha", Says: "decay of a topic's prevalence per request: it halves in 1/alpha", Default: "3/C", Max: 1e6},
		lambdaParam,
		{Name: "dep-cap", Says: "the most that dependents count for; 0: no bound", Default: "64", Max: 1e15},
		{
			Name: "admission", Says: "paper: a new entry may be refused at once; protect: it stays until the next one",
			Default: "protect", Choices: []string{"paper", "protect"},
		},
		{Name: "ghosts", Says: "topics without entries that keep their prevalence", Default: "1C", Max: 1e12},
		policy.ValueParam,
	}
)

// OptionsOf returns the options that the parameters of Spec give.
func OptionsOf(a policy.Args) Options {
	return Options{
		Alpha: a.Num("alpha"), Lambda: a.Num("lambda"), DepCap: a.Num("dep-cap"), Ghosts: a.Whole("ghosts"),
		Protect: a.Choice("admission") == "protect", worth: a.Value(),
	}
}

// Spec describes rac and its parameters.
var Spec = policy.Spec{
	Name: "rac", Says: "relation-aware: least topical prevalence times structural importance, tuned", Params: params,
	New: func(a policy.Args) policy.Evictor { return New(OptionsOf(a)) },
}

// PaperSpec describes rac-paper and its parameters.
var PaperSpec = policy.Spec{
	Name: "rac-paper", Says: "paper 002 read literally",
	Params: []policy.Param{
		{Name: "alpha", Says: "decay of a topic's prevalence per request: it halves in 1/alpha", Default: "0.001", Max: 1e6},
		lambdaParam,
	},
	New: func(a policy.Args) policy.Evictor {
		o := paper()
		o.Alpha, o.Lambda = a.Num("alpha"), a.Num("lambda")
		return New(o)
	},
}
