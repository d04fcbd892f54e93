package classic

import "reprise/policy"

// specs are the policies of this package by name.
var specs = policy.Set{&LRUSpec, &TTLSpec, &S3FIFOSpec, &TinyLFUSpec, &LIRSSpec}
