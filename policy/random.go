package policy

var randomSpec = spec{
	name: "random", says: "not built yet",
	make: func(args) Evictor { return NewLRU() },
}
