package haz

import (
	"reprise/policy"
	"reprise/policy/classic"
)

// specs are haz by name, and what it is compared with.
var specs = policy.Set{&Spec, &classic.LRUSpec}
