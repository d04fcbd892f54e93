package policy

var sieveSpec = spec{
	name: "sieve", says: "not built yet",
	make: func(args) Evictor { return NewLRU() },
}
