package policy

var ttlSpec = spec{
	name: "ttl", says: "not built yet",
	make: func(args) Evictor { return NewLRU() },
}
