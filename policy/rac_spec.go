package policy

var racSpec = spec{
	name: "rac", says: "relation-aware: least topical prevalence times structural importance, tuned",
	params: []Param{
		{Name: "alpha", Says: "decay of a topic's prevalence per request: it halves in 1/alpha of them", Default: "3/C", Max: 1e6},
		{Name: "lambda", Says: "weight of dependents against own requests", Default: "1", Max: 1e6},
	},
	make: func(a args) Evictor {
		o := RACTuned(a.Capacity)
		o.Alpha, o.Lambda, o.CostAware = a.num("alpha"), a.num("lambda"), a.Bytes
		return NewRAC(o)
	},
}

var racPaperSpec = spec{
	name: "rac-paper", says: "paper 002 read literally",
	make: func(args) Evictor { return NewRAC(RACPaper()) },
}

var racNoTPSpec = spec{
	name: "rac-no-tp", says: "not built yet",
	make: func(args) Evictor { return NewLRU() },
}

var racNoTSISpec = spec{
	name: "rac-no-tsi", says: "not built yet",
	make: func(args) Evictor { return NewLRU() },
}
