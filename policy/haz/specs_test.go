package haz

import (
	"reprise/policy/classic"
	"reprise/policy/spec"
)

// specs are haz by name, and what it is compared with.
var specs = spec.Set{&Spec, &classic.LRUSpec}
