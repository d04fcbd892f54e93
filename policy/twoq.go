package policy

var twoQSpec = spec{
	name: "2q", says: "not built yet",
	make: func(args) Evictor { return NewLRU() },
}
