package policy

var lecarSpec = spec{
	name: "lecar", says: "not built yet",
	make: func(args) Evictor { return NewLRU() },
}
