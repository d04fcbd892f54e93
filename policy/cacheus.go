package policy

var cacheusSpec = spec{
	name: "cacheus", says: "not built yet",
	make: func(args) Evictor { return NewLRU() },
}
