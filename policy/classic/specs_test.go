package classic

import "reprise/policy/spec"

// specs are the policies of this package by name, and the form of one that only tests know.
var specs = spec.Set{
	&FIFOSpec, &LRUSpec, &LFUSpec, &TTLSpec, &SieveSpec, &S3FIFOSpec, &TinyLFUSpec, &LIRSSpec, &GDSFSpec, &AgingLFUSpec,
	&libTinyLFUSpec,
}
