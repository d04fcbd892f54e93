package classic

import "reprise/policy/spec"

// specs are the policies of this package by name.
var specs = spec.Set{&LRUSpec, &TTLSpec, &S3FIFOSpec, &TinyLFUSpec, &LIRSSpec}
