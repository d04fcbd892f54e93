package policy

import "slices"

// The parameters of RAC. What each is good for was measured over generated conversations and item-level traces: slow decays
// serve long conversations that return and freeze on all else; lambda and beta matter little; a window, ghosts and a value
// per visit help where popularity moves and cost where it stands.
var (
	racLambda = Param{Name: "lambda", Says: "weight of dependents against own requests", Default: "1", Max: 1e6}
	racBeta   = Param{Name: "beta", Says: "what a dependent's dependent counts against a direct one (paper 002 §7.2); 0: nothing", Default: "0", Max: 1}

	racParams = []Param{
		{Name: "alpha", Says: "decay of a topic's prevalence per unit of clock: it halves in 1/alpha", Default: "3/C", Max: 1e6},
		racLambda,
		racBeta,
		{Name: "dep-cap", Says: "the most that dependents count for; 0: no bound", Default: "64", Max: 1e15},
		{Name: "first", Says: "what an entry counts for until its first hit; a hit counts 1", Default: "1", Max: 1},
		{Name: "norm", Says: "visits: the importance is divided by the requests to the topic", Default: "none", Choices: []string{"none", "visits"}},
		{Name: "clock", Says: "what alpha's time counts; an episode is a run of requests to one topic; hits: requests, but only hits credit a topic",
			Default: racClocks[0], Choices: racClocks},
		{Name: "admission", Says: "paper: a new entry may be refused at once; protect: it stays until the next one", Default: "protect",
			Choices: []string{"paper", "protect"}},
		{Name: "window", Says: "the newest that cannot be the victim, as if under protect for longer", Default: "0", Max: 1e9},
		{Name: "ghosts", Says: "topics without entries that keep their prevalence", Default: "1C", Max: 1e9},
		{Name: "entry-ghosts", Says: "evicted entries that have their requests, dependents and parent again when they return", Default: "0", Max: 1e9},
		worthParam,
	}
)

func racOptions(a args) RACOptions {
	o := RACOptions{
		Alpha: a.num("alpha"), Lambda: a.num("lambda"), Beta: a.num("beta"), DepCap: a.num("dep-cap"), Doubt: 1 - a.num("first"),
		PerVisit: a.choice("norm") == "visits", Clock: RACClock(slices.Index(racClocks, a.choice("clock"))),
		Ghosts: a.whole("ghosts"), EntryGhosts: a.whole("entry-ghosts"), Window: a.whole("window"), worth: a.worthMode(),
	}
	if a.choice("admission") == "protect" {
		o.Window = max(o.Window, 1)
	}
	return o
}

var racSpec = spec{
	name: "rac", says: "relation-aware: least topical prevalence times structural importance, tuned", params: racParams,
	make: func(a args) Evictor { return NewRAC(racOptions(a)) },
}

var racPaperSpec = spec{
	name: "rac-paper", says: "paper 002 read literally",
	params: []Param{
		{Name: "alpha", Says: "decay of a topic's prevalence per request: it halves in 1/alpha", Default: "1", Max: 1e6},
		racLambda,
		racBeta,
	},
	make: func(a args) Evictor {
		o := RACPaper()
		o.Alpha, o.Lambda, o.Beta = a.num("alpha"), a.num("lambda"), a.num("beta")
		return NewRAC(o)
	},
}

var racNoTPSpec = spec{
	name: "rac-no-tp", says: "rac without prevalence: least structural importance", params: racParams,
	make: func(a args) Evictor {
		o := racOptions(a)
		o.NoTP = true
		return NewRAC(o)
	},
}

var racNoTSISpec = spec{
	name: "rac-no-tsi", says: "rac without importance: the least recent of the least prevalent topic", params: racParams,
	make: func(a args) Evictor {
		o := racOptions(a)
		o.NoTSI = true
		return NewRAC(o)
	},
}
