package policy

var lhdSpec = spec{
	name: "lhd", says: "not built yet",
	make: func(args) Evictor { return NewLRU() },
}
