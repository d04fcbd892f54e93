package policy

var fifoSpec = spec{
	name: "fifo", says: "not built yet",
	make: func(args) Evictor { return NewLRU() },
}
