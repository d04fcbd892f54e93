package policy

var hazSpec = spec{
	name: "haz", says: "not built yet",
	make: func(args) Evictor { return NewLRU() },
}
