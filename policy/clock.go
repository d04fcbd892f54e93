package policy

var clockSpec = spec{
	name: "clock", says: "not built yet",
	make: func(args) Evictor { return NewLRU() },
}
