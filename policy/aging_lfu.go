package policy

var agingLFUSpec = spec{
	name: "aging-lfu", says: "not built yet",
	make: func(args) Evictor { return NewLRU() },
}
