package rac

import "reprise/policy/spec"

// specs are the policies of this package by name.
var specs = spec.Set{&Spec, &PaperSpec}
