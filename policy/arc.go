package policy

var arcSpec = spec{
	name: "arc", says: "not built yet",
	make: func(args) Evictor { return NewLRU() },
}
