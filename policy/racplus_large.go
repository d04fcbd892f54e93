package policy

func newRACPlusLarge(a args, seats []seat) Evictor { return newRACPlus(a, seats) }
