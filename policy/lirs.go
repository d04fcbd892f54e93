package policy

var lirsSpec = spec{
	name: "lirs", says: "not built yet",
	make: func(args) Evictor { return NewLRU() },
}
