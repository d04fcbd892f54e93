package policy

var ttlSlidingSpec = spec{
	name: "ttl-sliding", says: "not built yet",
	make: func(args) Evictor { return NewLRU() },
}
