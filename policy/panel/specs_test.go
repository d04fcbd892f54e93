package panel

import (
	"reprise/policy/classic"
	"reprise/policy/spec"
)

// specs are the panel by name, and what it is compared with.
var specs = spec.Set{&Spec, &classic.LIRSSpec}
