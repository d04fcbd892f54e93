package rac

import "reprise/policy"

// specs are the policies of this package by name.
var specs = policy.Set{&Spec, &PaperSpec}
