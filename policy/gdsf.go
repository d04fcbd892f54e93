package policy

var gdsfSpec = spec{
	name: "gdsf", says: "not built yet",
	make: func(args) Evictor { return NewLRU() },
}
