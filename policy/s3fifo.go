package policy

var s3fifoSpec = spec{
	name: "s3fifo", says: "not built yet",
	make: func(args) Evictor { return NewLRU() },
}
