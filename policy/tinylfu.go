package policy

var tinyLFUSpec = spec{
	name: "w-tinylfu", says: "not built yet",
	make: func(args) Evictor { return NewLRU() },
}
