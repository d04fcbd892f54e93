package classic

import "reprise/policy/spec"

// specs are the policies of this package by name, and the form of one that only tests know.
var specs = spec.Set{
	&FIFOSpec, &LRUSpec, &LFUSpec, &ClockSpec, &RandomSpec, &TTLSpec, &TTLSlidingSpec,
	&SieveSpec, &TwoQSpec, &ARCSpec, &S3FIFOSpec, &TinyLFUSpec, &LIRSSpec,
	&LHDSpec, &LeCaRSpec, &CacheusSpec,
	&GDSFSpec, &GDFSSpec, &LFUDASpec, &AgingLFUSpec,
	&libTinyLFUSpec,
}
