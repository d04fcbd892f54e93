package rac

import (
	"slices"

	"reprise/policy"
	"reprise/policy/spec"
)

// The parameters of RAC. Each can run again a probe of what RAC leaves open, against
// rac:alpha=0.001,dep-cap=0,admission=paper,ghosts=0 as the base:
//
//	decay of the prevalence                  alpha=0 … alpha=0.1
//	weight of dependents                     lambda=0 … lambda=10
//	dependents of dependents                 beta=0.5, beta=0.85
//	time by misses, by episodes of 8         clock=misses; clock=episodes,alpha=0.008
//	only hits credit a topic                 clock=hits
//	a new entry is not its own victim        admission=protect
//	probation of 1 %, of 10 %                window=0.01C, window=0.1C
//	topics that lost their entries are kept  ghosts=4C
//	and evicted entries                      ghosts=4C,entry-ghosts=4C
//	a share of the visits, not a count       ghosts=4C,entry-ghosts=4C,norm=visits
//	less credit for an insertion             ghosts=4C,entry-ghosts=4C,first=0.3
//	tokens per byte                          value=tokens/byte, under a limit in bytes
var (
	lambdaParam = policy.Param{Name: "lambda", Says: "weight of dependents against own requests", Default: "1", Max: 1e6}
	betaParam   = policy.Param{
		Name: "beta", Says: "what a dependent's dependent counts against a direct one (paper 002 §7.2)", Default: "0", Max: 1,
	}

	params = []policy.Param{
		{Name: "alpha", Says: "decay of a topic's prevalence per unit of clock: it halves in 1/alpha", Default: "3/C", Max: 1e6},
		lambdaParam,
		betaParam,
		{Name: "dep-cap", Says: "the most that dependents count for; 0: no bound", Default: "64", Max: 1e15},
		{Name: "first", Says: "what an entry counts for until its first hit; a hit counts 1", Default: "1", Max: 1},
		{
			Name: "norm", Says: "visits: the importance is divided by the requests to the topic",
			Default: "none", Choices: []string{"none", "visits"},
		},
		{
			Name: "clock", Says: "what alpha's time counts; episodes: runs of one topic; hits: requests, but only hits credit a topic",
			Default: clocks[0], Choices: clocks,
		},
		{
			Name: "admission", Says: "paper: a new entry may be refused at once; protect: it stays until the next one",
			Default: "protect", Choices: []string{"paper", "protect"},
		},
		{Name: "window", Says: "how many of the newest cannot be the victim; 0: as admission says", Default: "0", Max: 1e12},
		{Name: "ghosts", Says: "topics without entries that keep their prevalence", Default: "1C", Max: 1e12},
		{
			Name: "entry-ghosts", Says: "evicted entries that have their requests, dependents and parent again when they return",
			Default: "0", Max: 1e12,
		},
		spec.ValueParam,
	}
)

func optionsOf(a spec.Args) Options {
	o := Options{
		Alpha: a.Num("alpha"), Lambda: a.Num("lambda"), Beta: a.Num("beta"), DepCap: a.Num("dep-cap"), Doubt: 1 - a.Num("first"),
		PerVisit: a.Choice("norm") == "visits", Clock: Clock(slices.Index(clocks, a.Choice("clock"))),
		Ghosts: a.Whole("ghosts"), EntryGhosts: a.Whole("entry-ghosts"), Window: a.Whole("window"), worth: a.Value(),
	}
	if a.Choice("admission") == "protect" {
		o.Window = max(o.Window, 1)
	}
	return o
}

// Spec describes rac and its parameters.
var Spec = spec.Spec{
	Name: "rac", Relational: true, Says: "relation-aware: least topical prevalence times structural importance, tuned", Params: params,
	New: func(a spec.Args) policy.Evictor { return New(optionsOf(a)) },
}

// PaperSpec describes rac-paper and its parameters.
var PaperSpec = spec.Spec{
	Name: "rac-paper", Relational: true, Says: "paper 002 read literally",
	Params: []policy.Param{
		{Name: "alpha", Says: "decay of a topic's prevalence per request: it halves in 1/alpha", Default: "0.001", Max: 1e6},
		lambdaParam,
		betaParam,
	},
	New: func(a spec.Args) policy.Evictor {
		o := Paper()
		o.Alpha, o.Lambda, o.Beta = a.Num("alpha"), a.Num("lambda"), a.Num("beta")
		return New(o)
	},
}

// NoTPSpec describes rac-no-tp and its parameters.
var NoTPSpec = spec.Spec{
	Name: "rac-no-tp", Relational: true, Says: "rac without prevalence: least structural importance", Params: params,
	New: func(a spec.Args) policy.Evictor {
		o := optionsOf(a)
		o.NoTP = true
		return New(o)
	},
}

// NoTSISpec describes rac-no-tsi and its parameters.
var NoTSISpec = spec.Spec{
	Name: "rac-no-tsi", Relational: true, Says: "rac without importance: the least recent of the least prevalent topic", Params: params,
	New: func(a spec.Args) policy.Evictor {
		o := optionsOf(a)
		o.NoTSI = true
		return New(o)
	},
}
