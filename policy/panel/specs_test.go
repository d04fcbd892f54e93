package panel

import (
	"reprise/policy"
	"reprise/policy/classic"
)

// specs are the panel by name, and what it is compared with.
var specs = policy.Set{&Spec, &classic.LIRSSpec}
