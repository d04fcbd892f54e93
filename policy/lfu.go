package policy

var lfuSpec = spec{
	name: "lfu", says: "not built yet",
	make: func(args) Evictor { return NewLRU() },
}
