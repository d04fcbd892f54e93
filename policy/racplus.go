package policy

var racPlusSpec = spec{
	name: "rac+", says: "not built yet",
	make: func(args) Evictor { return NewLRU() },
}
