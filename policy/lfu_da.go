package policy

var lfuDASpec = spec{
	name: "lfu-da", says: "not built yet",
	make: func(args) Evictor { return NewLRU() },
}
