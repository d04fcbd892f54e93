package policy

// LFU-DA, LFU with dynamic aging (Arlitt et al., "Evaluating content management techniques for Web proxy caches", 2000), is
// GDSF where every entry has the same worth: K = L + uses.
var lfuDASpec = spec{
	name: "lfu-da", says: "LFU over a floor that rises with each eviction",
	make: func(args) Evictor { return newGDSF(worthHits) },
}
